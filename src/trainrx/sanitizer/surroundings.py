"""Secrets that are known by what they stand in: URLs, headers, calls and commands to log in."""

from __future__ import annotations

from trainrx.model.pattern import late
from trainrx.sanitizer.tokens import UUID, Shape

AROUND = (
    Shape(
        "url-with-password",
        ("://",),
        late(
            r"[a-zA-Z0-9+.-]://(?P<secret>[^\s/@:'\"<>]{0,256}:[^\s/'\"<>]{1,512}(?=@)"
            r"|[A-Za-z0-9_-]{20,256}(?=@))"
        ),
    ),
    Shape(
        "signed-url",
        ("token=", "signature=", "credential=", "sig=", "key=", "keyid=", "sign=", "secret="),
        late(
            r"(?i:[?&;](?:[a-z_-]{0,30}(?:token|signature|credential|keyid|auth_key|secret)|sig|"
            r"sign|key)=)(?P<secret>[^&\s'\"<>*][^&\s'\"<>]{0,2047})"
        ),
    ),
    Shape(
        "webhook",
        ("hooks.", "/hook", "/webhook", "api.day.app/"),
        late(
            r"(?:hooks\.slack\.com/(?:services|workflows)/|/bot/v2/hook/|/api/webhooks/|"
            r"\.webhook\.office\.com/webhook\w{0,3}/|hooks\.zapier\.com/hooks/catch/|"
            r"api\.day\.app/)(?P<secret>[A-Za-z0-9@/_-]{8,512})"
        ),
    ),
    Shape(
        "header",
        ("bearer", "authorization", "cookie"),
        late(
            r"(?i:\b(?:bearer|authorization['\"]?[:=]\s{0,3}['\"]?(?:basic|token))[ ])"
            r"(?P<secret>(?=[A-Za-z]{0,64}[^A-Za-z\s]|[a-z]{0,64}[A-Z]{2})"
            r"[A-Za-z0-9._~+/=-]{16,2048})"
            r"|(?i:\bcookie['\"]?:\s{1,3})(?P<cookie>[^\n'\"*][^\n'\"]{0,2047})"
        ),
    ),
    Shape(
        "login",
        ("login", " auth "),
        late(
            r"\b(?:wandb|swanlab|modelscope|huggingface-cli|hf|hf auth|huggingface-cli auth|comet|"
            r"docker|gh auth|glab auth|npm|kaggle)[ ]login(?:[ ]--?[\w.-]{1,40}(?:[= ]"
            r"(?:https?://\S{1,200}|(?=\S{1,12}[ ])[\w.@-]{1,12}))?){0,4}"
            r"(?:[ ]-[-\w]{1,20}[= ])?[ ]?"
            rf"(?P<secret>{UUID}|(?=[A-Za-z_-]{{0,64}}[0-9])[A-Za-z0-9_-]{{16,256}})"
            r"|\blogin\(\s{0,20}(?:(?:key|token|api_key)\s{0,3}=\s{0,3})?['\"]"
            r"(?P<call>[^'\"\n*][^'\"\n]{7,255})['\"]"
            r"|\blogin[ ]\S{1,100}[ \n]{1,3}password[ ](?P<netrc>[^\s*]\S{3,255})"
        ),
    ),
    Shape(
        "command-line",
        ("curl", "wget", "sshpass", "docker", "ossutil", "coscmd", "obsutil"),
        late(
            r"\b(?:curl|wget)\b[^\n]{0,200}?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]{1,60}:"
            r"(?P<secret>[^\s'\"*][^\s'\"]{2,255})"
            r"|\bsshpass[ ]-p[ ]?['\"]?(?P<pass>[^\s'\"*][^\s'\"]{2,255})"
            r"|\bdocker[ ]login\b[^\n]{0,200}?\s(?:-p|--password)[ =]['\"]?"
            r"(?P<docker>[^\s'\"*][^\s'\"]{2,255})"
            r"|\b(?:ossutil(?:64)?|coscmd|obsutil)[ ]config\b[^\n]{0,200}?\s-[iaks][ =]?"
            r"(?P<cloud>[A-Za-z0-9+/=_-]{12,255})(?:[^\n]{0,100}?\s-[iaks][ =]?"
            r"(?P<cloud2>[A-Za-z0-9+/=_-]{12,255}))?"
        ),
    ),
)
"""What surrounds a secret says what it is; all groups of a match are secrets."""
