import os

from lipsync import WebhookVerificationError, verify_webhook

# Two while a signing secret is being replaced.
SECRETS = os.environ["LIPSYNC_WEBHOOK_SECRET"].split(",")
# Yours is a table with the event's id as its key.
seen = set()


def receive_webhook(body, headers):
    """The status and text to answer: of Flask, pass request.stream and request.headers; of FastAPI, await
    request.body() and request.headers; of Django, request and request.headers.

    The body as it comes: bytes that went through a JSON parser no longer match. At most 1 MiB of a stream is read.
    """
    try:
        event = verify_webhook(body, headers, SECRETS)
    except WebhookVerificationError as error:
        return 400, error.reason
    if event.id not in seen:
        print(event.type, event.id, event.data.status)
    seen.add(event.id)
    return 204, ""
