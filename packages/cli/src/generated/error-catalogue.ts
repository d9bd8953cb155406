// Generated from openapi/openapi.yaml by scripts/generate.mjs. Do not edit.
export const ERROR_CATALOGUE = {
  "invalid_json": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Send a JSON object as the body."
  },
  "invalid_content_type": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Send the body with Content-Type application/json."
  },
  "invalid_request": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Correct the request to match the published schema."
  },
  "invalid_media_url": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Use a public https URL on port 443, at most 8192 characters long and without a user name or password, or upload the file."
  },
  "invalid_webhook_url": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Use a public https URL, at most 8192 characters long and without a user name or password; for a receiver on your own machine, run lipsync webhook listen."
  },
  "invalid_idempotency_key": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Send one idempotency key of at most 128 characters."
  },
  "idempotency_key_mismatch": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Send the same idempotency key in the header and in the body, or only one of them."
  },
  "unsupported_content_type": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Use a content_type that is supported for this media_type."
  },
  "asset_type_mismatch": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Use a video asset for video and an audio asset for audio."
  },
  "preparation_mismatch": {
    "http_status": 400,
    "retryable": false,
    "where": [
      "request",
      "record",
      "engine"
    ],
    "message": "Use the preparation only with the video that it was made from."
  },
  "invalid_api_key": {
    "http_status": 401,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Send a valid API key as a bearer token."
  },
  "not_found": {
    "http_status": 404,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "The path does not exist; see the documentation for the paths of this service."
  },
  "render_not_found": {
    "http_status": 404,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "No render with this id exists for this API key."
  },
  "preparation_not_found": {
    "http_status": 404,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "No preparation with this id exists for this API key."
  },
  "asset_not_found": {
    "http_status": 404,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "No asset with this id exists for this API key."
  },
  "upload_not_found": {
    "http_status": 404,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "No upload with this id exists for this API key."
  },
  "webhook_event_not_found": {
    "http_status": 404,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "No webhook event with this id exists for this API key."
  },
  "method_not_allowed": {
    "http_status": 405,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Use a method that is listed in the Allow header."
  },
  "idempotency_key_reused": {
    "http_status": 409,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "The idempotency key was used for another request; use a new key."
  },
  "idempotency_in_progress": {
    "http_status": 409,
    "retryable": true,
    "retry_after_seconds": 1,
    "where": [
      "request"
    ],
    "message": "The first request with this idempotency key is still being processed; try again shortly."
  },
  "render_not_cancellable": {
    "http_status": 409,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Only accepted and processing renders can be cancelled; this one has finished."
  },
  "asset_not_ready": {
    "http_status": 409,
    "retryable": true,
    "where": [
      "request"
    ],
    "message": "The asset's upload is not complete; complete it first."
  },
  "asset_failed": {
    "http_status": 409,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "The asset has failed; use another asset."
  },
  "preparation_not_ready": {
    "http_status": 409,
    "retryable": true,
    "where": [
      "request"
    ],
    "message": "The preparation has not finished; try again once it has completed."
  },
  "preparation_failed": {
    "http_status": 409,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "The preparation did not complete; create a new one."
  },
  "upload_incomplete": {
    "http_status": 409,
    "retryable": true,
    "where": [
      "request"
    ],
    "message": "The bytes have not arrived; send them to upload_url, then complete the upload."
  },
  "upload_size_mismatch": {
    "http_status": 409,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "The size of the file differs from size_bytes; create a new upload."
  },
  "render_expired": {
    "http_status": 410,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "The render has expired; create a new one."
  },
  "preparation_expired": {
    "http_status": 410,
    "retryable": false,
    "where": [
      "request",
      "record",
      "engine"
    ],
    "message": "The preparation has expired; create a new one."
  },
  "asset_expired": {
    "http_status": 410,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "The asset has expired; create a new one."
  },
  "upload_expired": {
    "http_status": 410,
    "retryable": false,
    "where": [
      "request",
      "asset",
      "record",
      "engine"
    ],
    "message": "The upload was not completed in time; create a new one."
  },
  "webhook_event_expired": {
    "http_status": 410,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "The webhook event has expired; fetch the render or preparation instead."
  },
  "body_too_large": {
    "http_status": 413,
    "retryable": false,
    "where": [
      "request"
    ],
    "message": "Send a body of at most 64 KiB."
  },
  "rate_limit_exceeded": {
    "http_status": 429,
    "retryable": true,
    "retry_after_seconds": 1,
    "where": [
      "request"
    ],
    "message": "Too many requests; wait for the time in the Retry-After header."
  },
  "concurrency_limit_exceeded": {
    "http_status": 429,
    "retryable": true,
    "retry_after_seconds": 10,
    "where": [
      "request"
    ],
    "message": "Too many unfinished renders, preparations or uploads; wait for one to finish."
  },
  "service_unavailable": {
    "http_status": 503,
    "retryable": true,
    "retry_after_seconds": 5,
    "where": [
      "request"
    ],
    "message": "The service is temporarily unavailable; try again later."
  },
  "engine_unavailable": {
    "http_status": 503,
    "retryable": true,
    "retry_after_seconds": 30,
    "where": [
      "request",
      "record",
      "engine"
    ],
    "message": "A requested engine is temporarily unavailable; try again later."
  },
  "internal_error": {
    "http_status": 503,
    "retryable": true,
    "retry_after_seconds": 5,
    "where": [
      "request",
      "asset",
      "record",
      "engine"
    ],
    "message": "Something went wrong on our side; try again later."
  },
  "media_download_failed": {
    "http_status": null,
    "retryable": true,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The media could not be downloaded; check that its server answers and try again."
  },
  "media_not_accessible": {
    "http_status": null,
    "retryable": false,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The media URL does not lead to a media file; check that it is public and points to the file itself."
  },
  "media_url_not_allowed": {
    "http_status": null,
    "retryable": false,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The media URL leads to an address that is not allowed or through more than three redirects; use a public https URL on port 443."
  },
  "media_too_large": {
    "http_status": null,
    "retryable": false,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The media is larger than 256 MiB; use a smaller file."
  },
  "media_too_long": {
    "http_status": null,
    "retryable": false,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The media is longer than 300 seconds; use a shorter file."
  },
  "media_type_mismatch": {
    "http_status": null,
    "retryable": false,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The media is not of the declared type; video needs a video stream and audio needs an audio stream."
  },
  "media_unsupported": {
    "http_status": null,
    "retryable": false,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The format, the frame size or the number of frames is not supported; send H.264 in MP4 within the published limits, or WAV."
  },
  "media_corrupt": {
    "http_status": null,
    "retryable": false,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The media is damaged or empty; export it again."
  },
  "upload_changed": {
    "http_status": null,
    "retryable": false,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The bytes were replaced after the upload was completed; create a new upload."
  },
  "no_face_detected": {
    "http_status": null,
    "retryable": false,
    "where": [
      "record",
      "engine"
    ],
    "message": "No face was found in the frames that are used; send a video that shows a face."
  },
  "engine_timeout": {
    "http_status": null,
    "retryable": true,
    "where": [
      "record",
      "engine"
    ],
    "message": "The engine took too long; create the render again."
  },
  "engine_out_of_memory": {
    "http_status": null,
    "retryable": true,
    "where": [
      "record",
      "engine"
    ],
    "message": "The engine ran out of memory; create the render again."
  },
  "worker_lost": {
    "http_status": null,
    "retryable": true,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The work was interrupted repeatedly; create the resource again."
  },
  "engine_failed": {
    "http_status": null,
    "retryable": true,
    "where": [
      "record",
      "engine"
    ],
    "message": "The engine failed; create the render again."
  },
  "encode_failed": {
    "http_status": null,
    "retryable": true,
    "where": [
      "record",
      "engine"
    ],
    "message": "The result could not be encoded; create the render again."
  },
  "storage_failed": {
    "http_status": null,
    "retryable": true,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "Media could not be loaded or stored; create the resource again."
  },
  "all_engines_failed": {
    "http_status": null,
    "retryable": false,
    "where": [
      "record"
    ],
    "message": "All engines failed for different reasons; see each engine's error."
  },
  "deadline_exceeded": {
    "http_status": null,
    "retryable": true,
    "where": [
      "asset",
      "record",
      "engine"
    ],
    "message": "The work was not done within two hours; create the resource again."
  }
} as const;
