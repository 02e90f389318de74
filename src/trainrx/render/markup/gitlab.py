"""Issues and comments of GitLab: 1,000,000 characters in a note.

https://docs.gitlab.com/administration/instance_limits/
"""

from trainrx.render.markup._commonmark import CommonMark


class _GitLab(CommonMark):
    limit = 1_000_000
    chat = False


MARKUP = _GitLab()
