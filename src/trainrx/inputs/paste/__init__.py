"""A pasted post (an issue, a chat, a scroll-back) taken apart into the inputs it holds."""
