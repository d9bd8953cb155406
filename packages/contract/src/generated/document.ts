// Generated from openapi/openapi.yaml by scripts/generate.mjs. Do not edit.
export const openapiDocument = {
  "openapi": "3.1.0",
  "info": {
    "title": "Lip-sync rendering service",
    "version": "1.0.0",
    "license": {
      "name": "MIT",
      "identifier": "MIT"
    },
    "description": "A lip-sync service. Submit a video and an audio track; one to three engines render the video so that the mouth\nfollows the voice. Work is asynchronous: a create answers at once with a record. Poll the record, or get a signed\nwebhook when it ends.\n\n**Input.** Media is an asset (`asset_id`) or an https URL on port 443 (`url`). At most 256 MiB\n(268435456 bytes) and 300 seconds. A `url` is downloaded without credentials; up to three redirects are\nfollowed, each to such a URL. Its first byte must come within 15 seconds, redirects included, and then at\nleast 64 KiB per second (over each 15 seconds), all within three minutes; after three failed attempts the asset\nfails. A URL that expires must last until the asset is ready.\n\n**Accepted media.** The bytes count, not their name or declared type. Containers: MP4 and QuickTime,\nMatroska and WebM, MPEG-TS (also from camcorders: MTS, M2TS); for audio also WAV, AIFF and AIFC, MP3, MP2, AAC\n(ADTS), AC-3, E-AC-3, FLAC, Ogg and WMA. Video: H.264, HEVC, VP8, VP9, AV1, MPEG-4 Part 2, MPEG-2, ProRes, DNxHD,\nDNxHR, Motion JPEG; each side, as shown after rotation, 16 to 4096 pixels, and at most 4096 × 2160 pixels in\nall; at most 18060 frames (301 seconds at 60 per second). Audio: AAC, MP3, MP2, AC-3, E-AC-3, FLAC, Vorbis, Opus,\nALAC, WMA (1, 2 and Pro), PCM. Only the first stream of a kind is used (in MPEG-TS, of the first program), so\nan audio asset may be a video file with sound. An upload whose own content type is not in the list of\ncreate_upload declares any that is: `video/mp4` for an MTS, `audio/wav` for an AIFF, `audio/mp4` for the sound of an\nMP4 or MTS, for AC-3 and for WMA. Media is decoded to its end before it is ready, and its duration is what was\ndecoded: an asset fails if its file is longer than 300 seconds, empty, cut short or damaged (for video, in more than\n2 % of its frames). MPEG-TS, AC-3 and raw AAC do not state their length, so a cut there goes unnoticed. As video,\nMPEG-TS that was concatenated from recordings whose clocks restart is refused.\n\n**Output.** MP4 with its index first. Every frame of the video keeps its time, at constant rates (which are exact,\nsuch as 30000/1001) and variable ones. Two exceptions: above 68 frames per second every second, third … frame comes\nback, and a frame that stays for longer than 0.1 s becomes several frames, so that the mouth keeps moving.\nInterlaced video is deinterlaced to one frame per field. 8-bit video comes back as H.264,\nvideo with more bits or in HDR as 10-bit HEVC (`hvc1`) with its transfer, primaries, mastering display and light levels,\nunless the operator has chosen H.264 for everything: then it is tone-mapped to BT.709. All is 4:2:0. The size is the\nvideo's, without an odd last row or column. Rotation is applied, transparency is composited onto black; range, color\ntags and the pixel aspect ratio are kept. The sound is that of the audio input alone: AAC that every player decodes\nis copied, unless silence is added or its packets are too long to be cut between; anything else is encoded to AAC at\n160 kb/s per channel, with its sample rate up to 48 kHz and its channels where they are mono, stereo or 5.1, else\nstereo. The timecode of the video (except with `remap`) and the language of the audio are kept. Titles, chapters,\nsubtitles, additional streams, and the location, device and owner that a phone records are left out.\n\n**Order of evaluation.** 401 for everything under `/v1` (or 429, for an address that sends many requests without\na valid key), then 429 (rate), 404 and 405 of the path, then the body (413, 400), then the idempotency key, then\nthe resource of the path (404, 410, 409), then the resources that the body names in the order video, audio,\npreparation_id, then 503 (engine) and 429 (concurrency). Query strings are ignored. Foreign, unknown and malformed\nids are answered alike with 404. Every error code, with its status and what to do, is in `x-error-catalogue`; the\npage `/docs/errors` lists them.\n\n**Idempotency.** Per customer, for create_render and create_preparation, by header `Idempotency-Key` or the\nproperty `idempotency_key` (equal if both are given; the empty string is no key). Same key and payload: the\nsame resource in its current state with `Idempotent-Replayed: true`; same key, other payload or operation: 409.\nA key lives as long as its resource. Only successful creates consume it.\n\n**Retryable.** `error.retryable` means that the same request sent again later can succeed unchanged. For a\nfailed record: create it again with the same inputs and a new idempotency key.\n\n**Partial failure.** A render is completed when at least one engine completed; look at `engines[].status`.\n\n**Sync modes.** `cut_off`: as long as the shorter of the two. `bounce`: as long as the audio; the video plays\nforward and backward. `loop`: as long as the audio; the video restarts. `remap`: as long as the audio; the\nvideo is slowed or sped up. `silence`: as long as the longer of the two; missing audio is silence, missing\nvideo holds the last frame.\n\n**Limits** (defaults, per customer): 300 POST and 1500 GET requests per minute (as a burst, refilled\nevenly), 20 active renders and preparations, 50 open uploads. A JSON body holds at most 64 KiB. Every\nanswer to a request with a valid key, errors included, has `RateLimit-…` headers. Requests without a valid key are\ncounted by IP address (IPv6: by /64): after 60 in a minute they get 429 instead of 401. From such an address, a\nvalid key that the service has not seen lately may get 429 too; send it again after the time in Retry-After.\n\n**Lifetimes.** Renders, preparations, assets and webhook events live until their `expires_at`, which is set when\nthey are created; the page `/docs/limits` says how long that is. Uploads and signed URLs live for at most\n15 minutes. An expired resource is answered with 410 for 30 days, then with 404.\n\n**Compatibility.** Within version 1 there may be new operations, optional request fields, response fields, error\ncodes, stages, event types and engines. Clients ignore what they do not know: the schemas here are closed because\nthey describe this version, and are too strict for checking answers of a later one."
  },
  "servers": [
    {
      "url": "/"
    }
  ],
  "security": [
    {
      "ApiKey": []
    }
  ],
  "tags": [
    {
      "name": "renders",
      "description": "Lip-synced videos."
    },
    {
      "name": "preparations",
      "description": "Analyses of a video that renders can reuse."
    },
    {
      "name": "uploads",
      "description": "Bytes sent to the service in two steps."
    },
    {
      "name": "assets",
      "description": "Verified media."
    },
    {
      "name": "webhooks",
      "description": "When a record with a `webhook_url` becomes terminal, one signed event is POSTed to it. Verify\n`Svc-Signature` before parsing: it is `t=<unix seconds>,v1=<hex>` where v1 is the HMAC-SHA256, keyed with\nthe hex-decoded signing secret, of `<t>.<Svc-Delivery-ID>.<raw body>`. Compare in constant time, reject a\n`t` more than five minutes away, then deduplicate by the event id. Answer 2xx within 15 seconds.\nA failed attempt is repeated up to ten times within 24 hours (after 10 s, 1 min, 5 min, 15 min, 30 min,\n1 h, 2 h, 4 h, 6 h, 7 h, or later if your answer has a `Retry-After` that says so); redirects are not\nfollowed. While your signing secret is being replaced, accept both the old and the new one: each attempt is\nsigned with one of them."
    }
  ],
  "paths": {
    "/v1/renders": {
      "post": {
        "operationId": "create_render",
        "tags": [
          "renders"
        ],
        "summary": "Create a render",
        "description": "Renders the video so that its mouth follows the audio, once per requested engine. Answers at once with the accepted record; poll get_render or wait for the webhook. A replay with the same idempotency key and the same payload answers the current state of the first render and never starts another one.",
        "parameters": [
          {
            "$ref": "#/components/parameters/IdempotencyKey"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/RenderRequest"
              },
              "examples": {
                "by_url": {
                  "$ref": "#/components/examples/RenderRequestByUrl"
                },
                "by_asset": {
                  "$ref": "#/components/examples/RenderRequestByAsset"
                }
              }
            }
          }
        },
        "responses": {
          "202": {
            "description": "The accepted render, or the current state of the render that the idempotency key names.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              },
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              },
              "Idempotent-Replayed": {
                "$ref": "#/components/headers/Idempotent-Replayed"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Record"
                },
                "examples": {
                  "accepted": {
                    "$ref": "#/components/examples/RenderAccepted"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "body_too_large",
          "invalid_content_type",
          "invalid_json",
          "invalid_request",
          "invalid_media_url",
          "invalid_webhook_url",
          "invalid_idempotency_key",
          "idempotency_key_mismatch",
          "idempotency_key_reused",
          "idempotency_in_progress",
          "asset_not_found",
          "asset_expired",
          "asset_type_mismatch",
          "asset_not_ready",
          "asset_failed",
          "preparation_not_found",
          "preparation_expired",
          "preparation_not_ready",
          "preparation_failed",
          "preparation_mismatch",
          "engine_unavailable",
          "concurrency_limit_exceeded"
        ]
      }
    },
    "/v1/renders/{id}": {
      "get": {
        "operationId": "get_render",
        "tags": [
          "renders"
        ],
        "summary": "Fetch a render",
        "description": "The state of the render, its stage and progress, and the result of every engine. Each fetch signs fresh download URLs for the outputs that exist. HEAD is answered like GET, without the body.",
        "parameters": [
          {
            "$ref": "#/components/parameters/RenderId"
          }
        ],
        "responses": {
          "200": {
            "description": "The render.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              },
              "Retry-After": {
                "$ref": "#/components/headers/Retry-After"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Record"
                },
                "examples": {
                  "processing": {
                    "$ref": "#/components/examples/RenderProcessing"
                  },
                  "completed": {
                    "$ref": "#/components/examples/RenderCompleted"
                  },
                  "failed": {
                    "$ref": "#/components/examples/RenderFailed"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "render_not_found",
          "render_expired"
        ]
      }
    },
    "/v1/renders/{id}/cancel": {
      "post": {
        "operationId": "cancel_render",
        "tags": [
          "renders"
        ],
        "summary": "Cancel a render",
        "description": "Cancels an accepted or processing render: once this is answered the render never becomes completed. Engines that had completed keep their output and usage. Downloads of this render's `url`s stop, and their assets fail, unless another record waits for them. Cancelling a cancelled render answers it unchanged. A body is not needed; a JSON object is ignored.",
        "parameters": [
          {
            "$ref": "#/components/parameters/RenderId"
          }
        ],
        "responses": {
          "202": {
            "description": "The cancelled render.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Record"
                },
                "examples": {
                  "cancelled": {
                    "$ref": "#/components/examples/RenderCancelled"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "body_too_large",
          "render_not_found",
          "render_expired",
          "render_not_cancellable"
        ]
      }
    },
    "/v1/preparations": {
      "post": {
        "operationId": "create_preparation",
        "tags": [
          "preparations"
        ],
        "summary": "Create a preparation",
        "description": "Analyzes a video once, so that renders which name the preparation skip the analysis. Idempotency works as for renders; keys are shared between both operations.",
        "parameters": [
          {
            "$ref": "#/components/parameters/IdempotencyKey"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/PreparationRequest"
              },
              "examples": {
                "by_asset": {
                  "$ref": "#/components/examples/PreparationRequestByAsset"
                }
              }
            }
          }
        },
        "responses": {
          "202": {
            "description": "The accepted preparation, or the current state of the one that the idempotency key names.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              },
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              },
              "Idempotent-Replayed": {
                "$ref": "#/components/headers/Idempotent-Replayed"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Record"
                },
                "examples": {
                  "accepted": {
                    "$ref": "#/components/examples/PreparationAccepted"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "body_too_large",
          "invalid_content_type",
          "invalid_json",
          "invalid_request",
          "invalid_media_url",
          "invalid_webhook_url",
          "invalid_idempotency_key",
          "idempotency_key_mismatch",
          "idempotency_key_reused",
          "idempotency_in_progress",
          "asset_not_found",
          "asset_expired",
          "asset_type_mismatch",
          "asset_not_ready",
          "asset_failed",
          "concurrency_limit_exceeded"
        ]
      }
    },
    "/v1/preparations/{id}": {
      "get": {
        "operationId": "get_preparation",
        "tags": [
          "preparations"
        ],
        "summary": "Fetch a preparation",
        "description": "The state of the preparation and, once completed, the measures of the analyzed video.",
        "parameters": [
          {
            "$ref": "#/components/parameters/PreparationId"
          }
        ],
        "responses": {
          "200": {
            "description": "The preparation.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              },
              "Retry-After": {
                "$ref": "#/components/headers/Retry-After"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Record"
                },
                "examples": {
                  "completed": {
                    "$ref": "#/components/examples/PreparationCompleted"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "preparation_not_found",
          "preparation_expired"
        ]
      }
    },
    "/v1/uploads": {
      "post": {
        "operationId": "create_upload",
        "tags": [
          "uploads"
        ],
        "summary": "Create an upload",
        "description": "Creates an asset that awaits its bytes and a signed URL for them. Send the bytes with PUT and exactly the required headers, then call complete_upload. The signature binds content type and length.",
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/UploadRequest"
              },
              "examples": {
                "video": {
                  "$ref": "#/components/examples/UploadRequestVideo"
                }
              }
            }
          }
        },
        "responses": {
          "201": {
            "description": "The upload.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              },
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Upload"
                },
                "examples": {
                  "awaiting_upload": {
                    "$ref": "#/components/examples/UploadAwaiting"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "body_too_large",
          "invalid_content_type",
          "invalid_json",
          "invalid_request",
          "unsupported_content_type",
          "concurrency_limit_exceeded"
        ]
      }
    },
    "/v1/uploads/{id}/complete": {
      "post": {
        "operationId": "complete_upload",
        "tags": [
          "uploads"
        ],
        "summary": "Complete an upload",
        "description": "Call this when the bytes have arrived. The service freezes them and starts to verify them. Completing twice answers the current asset and starts nothing. Accepted until 15 minutes after expires_at when the bytes are there. A body is not needed; a JSON object is ignored.",
        "parameters": [
          {
            "$ref": "#/components/parameters/UploadId"
          }
        ],
        "responses": {
          "202": {
            "description": "The asset that the upload fills.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Asset"
                },
                "examples": {
                  "pending": {
                    "$ref": "#/components/examples/AssetPending"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "body_too_large",
          "upload_not_found",
          "upload_expired",
          "upload_incomplete",
          "upload_size_mismatch"
        ]
      }
    },
    "/v1/assets": {
      "post": {
        "operationId": "create_asset",
        "tags": [
          "assets"
        ],
        "summary": "Create an asset from a URL",
        "description": "Downloads the media and verifies it. Not idempotent: every call creates another asset.",
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/AssetRequest"
              },
              "examples": {
                "audio": {
                  "$ref": "#/components/examples/AssetRequestAudio"
                }
              }
            }
          }
        },
        "responses": {
          "202": {
            "description": "The pending asset.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              },
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Asset"
                },
                "examples": {
                  "pending": {
                    "$ref": "#/components/examples/AssetPending"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "body_too_large",
          "invalid_content_type",
          "invalid_json",
          "invalid_request",
          "invalid_media_url"
        ]
      }
    },
    "/v1/assets/{id}": {
      "get": {
        "operationId": "get_asset",
        "tags": [
          "assets"
        ],
        "summary": "Fetch an asset",
        "description": "The state of the asset. Its media measures are placeholders (duration 0, codec \"unknown\") until it is ready.",
        "parameters": [
          {
            "$ref": "#/components/parameters/AssetId"
          }
        ],
        "responses": {
          "200": {
            "description": "The asset.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              },
              "Retry-After": {
                "$ref": "#/components/headers/Retry-After"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Asset"
                },
                "examples": {
                  "ready": {
                    "$ref": "#/components/examples/AssetReady"
                  },
                  "failed": {
                    "$ref": "#/components/examples/AssetFailed"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "asset_not_found",
          "asset_expired"
        ]
      }
    },
    "/v1/webhooks/{id}": {
      "get": {
        "operationId": "get_webhook",
        "tags": [
          "webhooks"
        ],
        "summary": "Fetch the delivery of a webhook event",
        "description": "The state of the delivery of one webhook event, whether it is pending, delivered or given up.",
        "parameters": [
          {
            "$ref": "#/components/parameters/WebhookEventId"
          }
        ],
        "responses": {
          "200": {
            "description": "The delivery.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "RateLimit-Limit": {
                "$ref": "#/components/headers/RateLimit-Limit"
              },
              "RateLimit-Remaining": {
                "$ref": "#/components/headers/RateLimit-Remaining"
              },
              "RateLimit-Reset": {
                "$ref": "#/components/headers/RateLimit-Reset"
              },
              "Cache-Control": {
                "$ref": "#/components/headers/Cache-Control"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Delivery"
                },
                "examples": {
                  "delivered": {
                    "$ref": "#/components/examples/DeliveryDelivered"
                  },
                  "pending": {
                    "$ref": "#/components/examples/DeliveryPending"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/InvalidRequest"
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "404": {
            "$ref": "#/components/responses/NotFound"
          },
          "405": {
            "$ref": "#/components/responses/MethodNotAllowed"
          },
          "409": {
            "$ref": "#/components/responses/Conflict"
          },
          "410": {
            "$ref": "#/components/responses/Gone"
          },
          "413": {
            "$ref": "#/components/responses/BodyTooLarge"
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        },
        "x-error-codes": [
          "invalid_api_key",
          "rate_limit_exceeded",
          "method_not_allowed",
          "service_unavailable",
          "internal_error",
          "webhook_event_not_found",
          "webhook_event_expired"
        ]
      }
    }
  },
  "webhooks": {
    "render.completed": {
      "post": {
        "operationId": "render_completed",
        "tags": [
          "webhooks"
        ],
        "summary": "At least one engine of the render completed",
        "description": "At least one engine of the render completed. Sent to the webhook_url of the request; see the tag for signature and retries.",
        "security": [],
        "parameters": [
          {
            "$ref": "#/components/parameters/SvcEventId"
          },
          {
            "$ref": "#/components/parameters/SvcDeliveryId"
          },
          {
            "$ref": "#/components/parameters/SvcSignature"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/WebhookEvent"
              },
              "examples": {
                "event": {
                  "$ref": "#/components/examples/EventRenderCompleted"
                }
              }
            }
          }
        },
        "responses": {
          "2XX": {
            "description": "Received. Any other answer and any redirect is a failed attempt."
          }
        }
      }
    },
    "render.failed": {
      "post": {
        "operationId": "render_failed",
        "tags": [
          "webhooks"
        ],
        "summary": "No engine of the render completed",
        "description": "No engine of the render completed. Sent to the webhook_url of the request; see the tag for signature and retries.",
        "security": [],
        "parameters": [
          {
            "$ref": "#/components/parameters/SvcEventId"
          },
          {
            "$ref": "#/components/parameters/SvcDeliveryId"
          },
          {
            "$ref": "#/components/parameters/SvcSignature"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/WebhookEvent"
              },
              "examples": {
                "event": {
                  "$ref": "#/components/examples/EventRenderFailed"
                }
              }
            }
          }
        },
        "responses": {
          "2XX": {
            "description": "Received. Any other answer and any redirect is a failed attempt."
          }
        }
      }
    },
    "render.cancelled": {
      "post": {
        "operationId": "render_cancelled",
        "tags": [
          "webhooks"
        ],
        "summary": "The render was cancelled",
        "description": "The render was cancelled. Sent to the webhook_url of the request; see the tag for signature and retries.",
        "security": [],
        "parameters": [
          {
            "$ref": "#/components/parameters/SvcEventId"
          },
          {
            "$ref": "#/components/parameters/SvcDeliveryId"
          },
          {
            "$ref": "#/components/parameters/SvcSignature"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/WebhookEvent"
              },
              "examples": {
                "event": {
                  "$ref": "#/components/examples/EventRenderCancelled"
                }
              }
            }
          }
        },
        "responses": {
          "2XX": {
            "description": "Received. Any other answer and any redirect is a failed attempt."
          }
        }
      }
    },
    "preparation.completed": {
      "post": {
        "operationId": "preparation_completed",
        "tags": [
          "webhooks"
        ],
        "summary": "The preparation completed",
        "description": "The preparation completed. Sent to the webhook_url of the request; see the tag for signature and retries.",
        "security": [],
        "parameters": [
          {
            "$ref": "#/components/parameters/SvcEventId"
          },
          {
            "$ref": "#/components/parameters/SvcDeliveryId"
          },
          {
            "$ref": "#/components/parameters/SvcSignature"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/WebhookEvent"
              },
              "examples": {
                "event": {
                  "$ref": "#/components/examples/EventPreparationCompleted"
                }
              }
            }
          }
        },
        "responses": {
          "2XX": {
            "description": "Received. Any other answer and any redirect is a failed attempt."
          }
        }
      }
    },
    "preparation.failed": {
      "post": {
        "operationId": "preparation_failed",
        "tags": [
          "webhooks"
        ],
        "summary": "The preparation failed",
        "description": "The preparation failed. Sent to the webhook_url of the request; see the tag for signature and retries.",
        "security": [],
        "parameters": [
          {
            "$ref": "#/components/parameters/SvcEventId"
          },
          {
            "$ref": "#/components/parameters/SvcDeliveryId"
          },
          {
            "$ref": "#/components/parameters/SvcSignature"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/WebhookEvent"
              },
              "examples": {
                "event": {
                  "$ref": "#/components/examples/EventPreparationFailed"
                }
              }
            }
          }
        },
        "responses": {
          "2XX": {
            "description": "Received. Any other answer and any redirect is a failed attempt."
          }
        }
      }
    }
  },
  "components": {
    "securitySchemes": {
      "ApiKey": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "svc_ followed by 64 hexadecimal digits",
        "description": "The API key of a customer. Unknown, malformed and revoked keys are answered alike."
      }
    },
    "parameters": {
      "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "Makes repeating this request safe. Must equal the property idempotency_key if both are given.",
        "schema": {
          "type": "string",
          "maxLength": 128
        },
        "example": "order-4711-take-2"
      },
      "RenderId": {
        "name": "id",
        "in": "path",
        "required": true,
        "description": "The id of the render.",
        "schema": {
          "type": "string"
        },
        "example": "ren_01k3v9m5e8q4x7r2t6w0y1z3ab"
      },
      "PreparationId": {
        "name": "id",
        "in": "path",
        "required": true,
        "description": "The id of the preparation.",
        "schema": {
          "type": "string"
        },
        "example": "prp_01k3v9m5e8q4x7r2t6w0y1z3ab"
      },
      "UploadId": {
        "name": "id",
        "in": "path",
        "required": true,
        "description": "The id of the upload.",
        "schema": {
          "type": "string"
        },
        "example": "upl_01k3v9m5e8q4x7r2t6w0y1z3ab"
      },
      "AssetId": {
        "name": "id",
        "in": "path",
        "required": true,
        "description": "The id of the asset.",
        "schema": {
          "type": "string"
        },
        "example": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab"
      },
      "WebhookEventId": {
        "name": "id",
        "in": "path",
        "required": true,
        "description": "The id of the webhook event.",
        "schema": {
          "type": "string"
        },
        "example": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab"
      },
      "SvcEventId": {
        "name": "Svc-Event-ID",
        "in": "header",
        "required": true,
        "description": "The id of the event. Constant over attempts. It is not signed; deduplicate by the id in the body, which is.",
        "schema": {
          "type": "string"
        },
        "example": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab"
      },
      "SvcDeliveryId": {
        "name": "Svc-Delivery-ID",
        "in": "header",
        "required": true,
        "description": "The id of the delivery, part of the signed bytes. Constant over attempts.",
        "schema": {
          "type": "string"
        },
        "example": "dlv_01k3v9m5e8q4x7r2t6w0y1z3ab"
      },
      "SvcSignature": {
        "name": "Svc-Signature",
        "in": "header",
        "required": true,
        "description": "Fresh at every attempt; see the description of this group.",
        "schema": {
          "type": "string",
          "pattern": "^t=[0-9]+,v1=[0-9a-f]{64}$"
        },
        "example": "t=1767225600,v1=7d38cdd689735b008b3c702edd92eea23791c5f6b0e1d2f3a4b5c6d7e8f90a1b"
      }
    },
    "headers": {
      "Location": {
        "description": "The URL of what was created: the status_url of a render or preparation; for an asset, or the asset of an upload, its URL in get_asset.",
        "schema": {
          "type": "string",
          "format": "uri"
        }
      },
      "X-Request-Id": {
        "description": "Names this request in the logs of the service. A value sent by the caller is kept when it is at most 128 characters of A-Z a-z 0-9 . _ -",
        "schema": {
          "type": "string"
        }
      },
      "RateLimit-Limit": {
        "description": "Requests per minute that the customer may send with this kind of method; with 429 for requests without a valid key, those of their IP address.",
        "schema": {
          "type": "integer"
        }
      },
      "RateLimit-Remaining": {
        "description": "Requests left.",
        "schema": {
          "type": "integer"
        }
      },
      "RateLimit-Reset": {
        "description": "Seconds until the full limit is available again.",
        "schema": {
          "type": "integer"
        }
      },
      "Retry-After": {
        "description": "Seconds to wait before sending the request again. On a fetch of an unfinished resource it says when to look again.",
        "schema": {
          "type": "integer",
          "minimum": 0
        }
      },
      "Idempotent-Replayed": {
        "description": "Present when the idempotency key named an earlier request, whose resource this is.",
        "schema": {
          "type": "string",
          "const": "true"
        }
      },
      "Allow": {
        "description": "The methods that the path has.",
        "schema": {
          "type": "string"
        }
      },
      "WWW-Authenticate": {
        "description": "The scheme of the credential.",
        "schema": {
          "type": "string",
          "const": "Bearer"
        }
      },
      "Cache-Control": {
        "description": "Responses hold signed URLs and changing states.",
        "schema": {
          "type": "string",
          "const": "no-store"
        }
      }
    },
    "responses": {
      "InvalidRequest": {
        "description": "The request can never succeed, whatever the state.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "Cache-Control": {
            "$ref": "#/components/headers/Cache-Control"
          },
          "RateLimit-Limit": {
            "$ref": "#/components/headers/RateLimit-Limit"
          },
          "RateLimit-Remaining": {
            "$ref": "#/components/headers/RateLimit-Remaining"
          },
          "RateLimit-Reset": {
            "$ref": "#/components/headers/RateLimit-Reset"
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/ErrorResponse"
            },
            "examples": {
              "error": {
                "$ref": "#/components/examples/InvalidRequest"
              }
            }
          }
        }
      },
      "Unauthorized": {
        "description": "The API key is missing, malformed, unknown or revoked.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "Cache-Control": {
            "$ref": "#/components/headers/Cache-Control"
          },
          "WWW-Authenticate": {
            "$ref": "#/components/headers/WWW-Authenticate"
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/ErrorResponse"
            },
            "examples": {
              "error": {
                "$ref": "#/components/examples/InvalidApiKey"
              }
            }
          }
        }
      },
      "NotFound": {
        "description": "The path or a named resource is unknown, or belongs to another customer.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "Cache-Control": {
            "$ref": "#/components/headers/Cache-Control"
          },
          "RateLimit-Limit": {
            "$ref": "#/components/headers/RateLimit-Limit"
          },
          "RateLimit-Remaining": {
            "$ref": "#/components/headers/RateLimit-Remaining"
          },
          "RateLimit-Reset": {
            "$ref": "#/components/headers/RateLimit-Reset"
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/ErrorResponse"
            },
            "examples": {
              "error": {
                "$ref": "#/components/examples/RenderNotFound"
              }
            }
          }
        }
      },
      "MethodNotAllowed": {
        "description": "The path exists, but not with this method.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "Cache-Control": {
            "$ref": "#/components/headers/Cache-Control"
          },
          "Allow": {
            "$ref": "#/components/headers/Allow"
          },
          "RateLimit-Limit": {
            "$ref": "#/components/headers/RateLimit-Limit"
          },
          "RateLimit-Remaining": {
            "$ref": "#/components/headers/RateLimit-Remaining"
          },
          "RateLimit-Reset": {
            "$ref": "#/components/headers/RateLimit-Reset"
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/ErrorResponse"
            },
            "examples": {
              "error": {
                "$ref": "#/components/examples/MethodNotAllowed"
              }
            }
          }
        }
      },
      "Conflict": {
        "description": "Refused because of the state of a resource or because of the idempotency key.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "Cache-Control": {
            "$ref": "#/components/headers/Cache-Control"
          },
          "Retry-After": {
            "$ref": "#/components/headers/Retry-After"
          },
          "RateLimit-Limit": {
            "$ref": "#/components/headers/RateLimit-Limit"
          },
          "RateLimit-Remaining": {
            "$ref": "#/components/headers/RateLimit-Remaining"
          },
          "RateLimit-Reset": {
            "$ref": "#/components/headers/RateLimit-Reset"
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/ErrorResponse"
            },
            "examples": {
              "error": {
                "$ref": "#/components/examples/IdempotencyKeyReused"
              }
            }
          }
        }
      },
      "Gone": {
        "description": "The resource has expired.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "Cache-Control": {
            "$ref": "#/components/headers/Cache-Control"
          },
          "RateLimit-Limit": {
            "$ref": "#/components/headers/RateLimit-Limit"
          },
          "RateLimit-Remaining": {
            "$ref": "#/components/headers/RateLimit-Remaining"
          },
          "RateLimit-Reset": {
            "$ref": "#/components/headers/RateLimit-Reset"
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/ErrorResponse"
            },
            "examples": {
              "error": {
                "$ref": "#/components/examples/RenderExpired"
              }
            }
          }
        }
      },
      "BodyTooLarge": {
        "description": "The JSON body is larger than 64 KiB.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "Cache-Control": {
            "$ref": "#/components/headers/Cache-Control"
          },
          "RateLimit-Limit": {
            "$ref": "#/components/headers/RateLimit-Limit"
          },
          "RateLimit-Remaining": {
            "$ref": "#/components/headers/RateLimit-Remaining"
          },
          "RateLimit-Reset": {
            "$ref": "#/components/headers/RateLimit-Reset"
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/ErrorResponse"
            },
            "examples": {
              "error": {
                "$ref": "#/components/examples/BodyTooLarge"
              }
            }
          }
        }
      },
      "TooManyRequests": {
        "description": "A rate or a concurrency limit is reached.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "Cache-Control": {
            "$ref": "#/components/headers/Cache-Control"
          },
          "Retry-After": {
            "$ref": "#/components/headers/Retry-After"
          },
          "RateLimit-Limit": {
            "$ref": "#/components/headers/RateLimit-Limit"
          },
          "RateLimit-Remaining": {
            "$ref": "#/components/headers/RateLimit-Remaining"
          },
          "RateLimit-Reset": {
            "$ref": "#/components/headers/RateLimit-Reset"
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/ErrorResponse"
            },
            "examples": {
              "error": {
                "$ref": "#/components/examples/RateLimitExceeded"
              }
            }
          }
        }
      },
      "Unavailable": {
        "description": "The service or a requested engine is temporarily unavailable.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "Cache-Control": {
            "$ref": "#/components/headers/Cache-Control"
          },
          "Retry-After": {
            "$ref": "#/components/headers/Retry-After"
          },
          "RateLimit-Limit": {
            "$ref": "#/components/headers/RateLimit-Limit"
          },
          "RateLimit-Remaining": {
            "$ref": "#/components/headers/RateLimit-Remaining"
          },
          "RateLimit-Reset": {
            "$ref": "#/components/headers/RateLimit-Reset"
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/ErrorResponse"
            },
            "examples": {
              "error": {
                "$ref": "#/components/examples/EngineUnavailable"
              }
            }
          }
        }
      }
    },
    "schemas": {
      "Engine": {
        "type": "string",
        "enum": [
          "musetalk",
          "latentsync",
          "highsync"
        ]
      },
      "SyncMode": {
        "type": "string",
        "enum": [
          "cut_off",
          "bounce",
          "loop",
          "remap",
          "silence"
        ],
        "description": "How video and audio of different lengths are brought together; see the rules for all operations."
      },
      "MediaType": {
        "type": "string",
        "enum": [
          "video",
          "audio"
        ]
      },
      "RecordStatus": {
        "type": "string",
        "enum": [
          "accepted",
          "processing",
          "completed",
          "failed",
          "cancelled"
        ],
        "description": "accepted → processing → completed, failed or cancelled. The last three never change again."
      },
      "AssetStatus": {
        "type": "string",
        "enum": [
          "awaiting_upload",
          "pending",
          "ready",
          "failed"
        ],
        "description": "Uploads start at awaiting_upload, URLs at pending."
      },
      "DeliveryStatus": {
        "type": "string",
        "enum": [
          "pending",
          "delivered",
          "failed"
        ]
      },
      "WebhookEventType": {
        "type": "string",
        "enum": [
          "render.completed",
          "render.failed",
          "render.cancelled",
          "preparation.completed",
          "preparation.failed"
        ]
      },
      "Input": {
        "description": "Either an existing asset or a URL to download from.",
        "oneOf": [
          {
            "$ref": "#/components/schemas/AssetInput"
          },
          {
            "$ref": "#/components/schemas/UrlInput"
          }
        ]
      },
      "AssetInput": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "asset_id"
        ],
        "properties": {
          "asset_id": {
            "type": "string",
            "description": "The id of an asset that is pending or ready."
          }
        }
      },
      "UrlInput": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "url"
        ],
        "properties": {
          "url": {
            "type": "string",
            "format": "uri",
            "pattern": "^https://",
            "description": "A public https URL on port 443 without a user name or password, at most 8192 characters.",
            "x-error-code": "invalid_media_url"
          }
        }
      },
      "RenderRequest": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "video",
          "audio",
          "engines",
          "sync_mode"
        ],
        "properties": {
          "video": {
            "$ref": "#/components/schemas/Input"
          },
          "audio": {
            "$ref": "#/components/schemas/Input"
          },
          "engines": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "uniqueItems": true,
            "items": {
              "$ref": "#/components/schemas/Engine"
            }
          },
          "sync_mode": {
            "$ref": "#/components/schemas/SyncMode"
          },
          "preparation_id": {
            "type": "string",
            "description": "A completed preparation of the same video."
          },
          "webhook_url": {
            "type": "string",
            "format": "uri",
            "pattern": "^https://",
            "description": "A public https URL, any port; called once when the render is terminal.",
            "x-error-code": "invalid_webhook_url"
          },
          "idempotency_key": {
            "type": "string",
            "maxLength": 128,
            "x-error-code": "invalid_idempotency_key"
          }
        }
      },
      "PreparationRequest": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "video"
        ],
        "properties": {
          "video": {
            "$ref": "#/components/schemas/Input"
          },
          "webhook_url": {
            "type": "string",
            "format": "uri",
            "pattern": "^https://",
            "description": "A public https URL, any port; called once when the preparation is terminal.",
            "x-error-code": "invalid_webhook_url"
          },
          "idempotency_key": {
            "type": "string",
            "maxLength": 128,
            "x-error-code": "invalid_idempotency_key"
          }
        }
      },
      "UploadRequest": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "media_type",
          "content_type",
          "size_bytes"
        ],
        "properties": {
          "media_type": {
            "$ref": "#/components/schemas/MediaType"
          },
          "content_type": {
            "type": "string",
            "description": "video/mp4, video/quicktime, video/webm, video/x-matroska; audio/mpeg, audio/wav, audio/x-wav, audio/wave, audio/mp4, audio/x-m4a, audio/aac, audio/ogg, audio/flac, audio/webm. Parameters are ignored. The bytes decide what the file is: one of another accepted kind declares any of these."
          },
          "size_bytes": {
            "type": "integer",
            "minimum": 1,
            "maximum": 268435456,
            "description": "The exact number of bytes that will be sent."
          }
        }
      },
      "AssetRequest": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "url",
          "media_type"
        ],
        "properties": {
          "url": {
            "type": "string",
            "format": "uri",
            "pattern": "^https://",
            "description": "A public https URL on port 443 without a user name or password, at most 8192 characters.",
            "x-error-code": "invalid_media_url"
          },
          "media_type": {
            "$ref": "#/components/schemas/MediaType"
          }
        }
      },
      "Record": {
        "type": "object",
        "additionalProperties": false,
        "description": "A render or a preparation.",
        "required": [
          "id",
          "status",
          "stage",
          "progress_percent",
          "video_asset_id",
          "created_at",
          "updated_at",
          "expires_at",
          "status_url"
        ],
        "properties": {
          "id": {
            "type": "string"
          },
          "status": {
            "$ref": "#/components/schemas/RecordStatus"
          },
          "stage": {
            "type": "string",
            "description": "accepted: queued. processing: fetching_inputs, validating_inputs, then for a render preparing (skipped with a preparation), rendering, finalizing and for a preparation analyzing, finalizing; once the media are ready, queued again while its next work waits for a free worker. Afterwards the status. New stages may appear."
          },
          "progress_percent": {
            "type": "number",
            "minimum": 0,
            "maximum": 100,
            "description": "Never falls. 100 exactly when completed; keeps its last value when failed or cancelled."
          },
          "video_asset_id": {
            "type": "string",
            "description": "The asset that was named or that was made for the URL."
          },
          "audio_asset_id": {
            "type": "string",
            "description": "Present on renders."
          },
          "sync_mode": {
            "type": "string",
            "description": "Present on renders."
          },
          "preparation_id": {
            "type": "string",
            "description": "The preparation that the render names."
          },
          "preparation": {
            "$ref": "#/components/schemas/Preparation"
          },
          "engines": {
            "type": "array",
            "description": "Present on renders, in the order of the request; kept after the render finished.",
            "items": {
              "$ref": "#/components/schemas/EngineResult"
            }
          },
          "webhook_event_id": {
            "type": "string",
            "description": "Present once the event of this record exists."
          },
          "error": {
            "$ref": "#/components/schemas/Error"
          },
          "created_at": {
            "type": "string",
            "format": "date-time"
          },
          "updated_at": {
            "type": "string",
            "format": "date-time"
          },
          "completed_at": {
            "type": "string",
            "format": "date-time",
            "description": "When the record became terminal."
          },
          "expires_at": {
            "type": "string",
            "format": "date-time"
          },
          "status_url": {
            "type": "string",
            "description": "The URL to fetch this record from."
          }
        }
      },
      "EngineResult": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "engine",
          "status",
          "stage",
          "progress_percent",
          "usage"
        ],
        "properties": {
          "engine": {
            "$ref": "#/components/schemas/Engine"
          },
          "status": {
            "type": "string",
            "description": "accepted, processing, completed, failed or cancelled."
          },
          "stage": {
            "type": "string",
            "description": "accepted: queued. processing: loading_model, inferencing, encoding, uploading; queued again after an interruption. Afterwards the status. New stages may appear."
          },
          "progress_percent": {
            "type": "number",
            "minimum": 0,
            "maximum": 100
          },
          "usage": {
            "$ref": "#/components/schemas/Usage"
          },
          "output": {
            "$ref": "#/components/schemas/Output"
          },
          "error": {
            "$ref": "#/components/schemas/Error"
          }
        }
      },
      "Output": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "url",
          "expires_at"
        ],
        "properties": {
          "url": {
            "type": "string",
            "format": "uri",
            "description": "Signed download URL, for GET alone (with or without Range); valid for 15 minutes."
          },
          "expires_at": {
            "type": "string",
            "format": "date-time"
          }
        }
      },
      "Usage": {
        "type": "object",
        "additionalProperties": false,
        "description": "What one engine used. The measurements are present once it is completed.",
        "properties": {
          "input_video_seconds": {
            "type": "number",
            "description": "Length of the video input."
          },
          "input_audio_seconds": {
            "type": "number",
            "description": "Length of the audio input."
          },
          "output_seconds": {
            "type": "number",
            "description": "Length of the output."
          },
          "analyzed_frames": {
            "type": "integer",
            "description": "Frames that this engine searched for a face; 0 if the video had been analyzed before."
          },
          "rendered_frames": {
            "type": "integer",
            "description": "Frames of the output."
          },
          "processing_ms": {
            "type": "integer",
            "description": "Time that a worker spent on this engine, loading and storing included, waiting in the queue excluded."
          },
          "gpu_inference_seconds": {
            "type": [
              "number",
              "null"
            ],
            "description": "Time in networks on a GPU. Null when none was used."
          },
          "billed_pod_seconds": {
            "type": [
              "number",
              "null"
            ],
            "description": "Machine time that is charged, as this engine's share of the machine. Null when not measured."
          },
          "estimated_compute_usd": {
            "type": [
              "number",
              "null"
            ],
            "description": "What the billed machine time costs, in US dollars; where that is not measured, an estimate by the length of the output, if the operator has prices. Null without either."
          },
          "observed_pod_seconds": {
            "type": [
              "number",
              "null"
            ],
            "description": "The part of the machine time that the provider has measured already. Null when not measured."
          },
          "engine": {
            "$ref": "#/components/schemas/Engine"
          },
          "status": {
            "type": "string",
            "description": "As the status of the engine's result."
          },
          "gpu_models": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "Names of the GPUs that were used. Empty if none was, or if the machine has several models."
          },
          "estimate_coverage": {
            "type": "string",
            "enum": [
              "unavailable",
              "partial",
              "observed"
            ],
            "description": "How much of the work was measured: nothing, part of it, or all of it."
          }
        }
      },
      "Preparation": {
        "type": "object",
        "additionalProperties": false,
        "description": "What the analysis of the video found. `frames` is the number of frames in a render of the whole video; `fps` is their usual rate, rounded.",
        "properties": {
          "version": {
            "type": "string"
          },
          "analyzer_version": {
            "type": "string"
          },
          "frames": {
            "type": "integer"
          },
          "fps": {
            "type": "integer"
          },
          "width": {
            "type": "integer"
          },
          "height": {
            "type": "integer"
          },
          "duration_seconds": {
            "type": "number"
          }
        }
      },
      "Asset": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "id",
          "media_type",
          "status",
          "stage",
          "media",
          "created_at",
          "expires_at"
        ],
        "properties": {
          "id": {
            "type": "string"
          },
          "media_type": {
            "$ref": "#/components/schemas/MediaType"
          },
          "status": {
            "$ref": "#/components/schemas/AssetStatus"
          },
          "stage": {
            "type": "string",
            "description": "awaiting_upload; pending: queued, downloading or verifying, probing; ready; failed. New stages may appear."
          },
          "content_type": {
            "type": "string",
            "description": "For an upload, the declared type. For a URL, the type that its server sent, if an upload could declare it; otherwise application/octet-stream. media.codec says what was found."
          },
          "media": {
            "$ref": "#/components/schemas/Media"
          },
          "error": {
            "$ref": "#/components/schemas/Error"
          },
          "created_at": {
            "type": "string",
            "format": "date-time"
          },
          "expires_at": {
            "type": "string",
            "format": "date-time"
          }
        }
      },
      "Media": {
        "type": "object",
        "additionalProperties": false,
        "description": "Until the asset is ready: the declared size (0 for a URL), duration 0, codec \"unknown\". Then width and height as shown after rotation, and the mean rate.",
        "required": [
          "size_bytes",
          "duration_seconds",
          "codec"
        ],
        "properties": {
          "size_bytes": {
            "type": "integer"
          },
          "duration_seconds": {
            "type": "number"
          },
          "codec": {
            "type": "string"
          },
          "width": {
            "type": "integer"
          },
          "height": {
            "type": "integer"
          },
          "frames": {
            "type": "integer"
          },
          "fps": {
            "type": "number"
          }
        }
      },
      "Upload": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "id",
          "asset_id",
          "status",
          "upload_url",
          "expires_at",
          "method",
          "required_headers",
          "complete_url"
        ],
        "properties": {
          "id": {
            "type": "string"
          },
          "asset_id": {
            "type": "string",
            "description": "The asset that the upload fills."
          },
          "status": {
            "type": "string",
            "description": "awaiting_upload, completed or expired."
          },
          "upload_url": {
            "type": "string",
            "description": "Signed URL for the bytes."
          },
          "expires_at": {
            "type": "string",
            "format": "date-time"
          },
          "method": {
            "type": "string",
            "const": "PUT"
          },
          "required_headers": {
            "type": "object",
            "description": "Send exactly these with the PUT. Browsers set Content-Length themselves.",
            "additionalProperties": {
              "type": "string"
            }
          },
          "complete_url": {
            "type": "string",
            "description": "POST here when the bytes are sent."
          }
        }
      },
      "Delivery": {
        "type": "object",
        "additionalProperties": false,
        "properties": {
          "id": {
            "type": "string",
            "description": "The id of the event."
          },
          "event_type": {
            "type": "string",
            "description": "As the type of the event."
          },
          "delivery_id": {
            "type": "string",
            "description": "The value of the header Svc-Delivery-ID."
          },
          "status": {
            "$ref": "#/components/schemas/DeliveryStatus"
          },
          "attempts": {
            "type": "integer",
            "description": "Attempts made so far, one that is under way included; at most 11."
          },
          "last_http_status": {
            "type": "integer"
          },
          "last_error": {
            "type": "string",
            "description": "The class of the last failure: timeout, dns_error, connection_failed, tls_error, address_not_allowed, redirect, http_error."
          },
          "created_at": {
            "type": "string",
            "format": "date-time"
          },
          "updated_at": {
            "type": "string",
            "format": "date-time"
          },
          "next_attempt_at": {
            "type": "string",
            "format": "date-time",
            "description": "Present while pending: when the next attempt is due. During an attempt: when the next one follows if the outcome of this one is lost."
          },
          "expires_at": {
            "type": "string",
            "format": "date-time"
          }
        }
      },
      "WebhookEvent": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "id",
          "type",
          "created_at",
          "data"
        ],
        "properties": {
          "id": {
            "type": "string",
            "description": "Use it for deduplication."
          },
          "type": {
            "$ref": "#/components/schemas/WebhookEventType"
          },
          "created_at": {
            "type": "string",
            "format": "date-time"
          },
          "data": {
            "$ref": "#/components/schemas/Record",
            "description": "The record at the time of the event; data.id identifies the render or preparation. Engine results have no output, because signed URLs would expire between retries: fetch the render for fresh ones."
          }
        }
      },
      "ErrorResponse": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "error"
        ],
        "properties": {
          "error": {
            "$ref": "#/components/schemas/Error"
          }
        }
      },
      "Error": {
        "type": "object",
        "additionalProperties": false,
        "required": [
          "code",
          "message",
          "retryable"
        ],
        "properties": {
          "code": {
            "type": "string",
            "description": "One of the codes of x-error-catalogue. New codes may appear."
          },
          "message": {
            "type": "string",
            "description": "For people: the message of x-error-catalogue, or a more specific one (which limit was exceeded, and by what). If it concerns a part of the request, that comes first: `/audio: …`."
          },
          "retryable": {
            "type": "boolean",
            "description": "The same request sent again later can succeed unchanged."
          }
        }
      }
    },
    "examples": {
      "RenderRequestByUrl": {
        "value": {
          "video": {
            "url": "https://media.example.com/face.mp4"
          },
          "audio": {
            "url": "https://media.example.com/voice.wav"
          },
          "engines": [
            "musetalk"
          ],
          "sync_mode": "cut_off",
          "webhook_url": "https://hooks.example.com/lipsync",
          "idempotency_key": "order-4711-take-2"
        }
      },
      "RenderRequestByAsset": {
        "value": {
          "video": {
            "asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab"
          },
          "audio": {
            "asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ac"
          },
          "engines": [
            "musetalk",
            "latentsync"
          ],
          "sync_mode": "bounce",
          "preparation_id": "prp_01k3v9m5e8q4x7r2t6w0y1z3ab"
        }
      },
      "PreparationRequestByAsset": {
        "value": {
          "video": {
            "asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab"
          }
        }
      },
      "UploadRequestVideo": {
        "value": {
          "media_type": "video",
          "content_type": "video/mp4",
          "size_bytes": 1048576
        }
      },
      "AssetRequestAudio": {
        "value": {
          "url": "https://media.example.com/voice.wav",
          "media_type": "audio"
        }
      },
      "RenderAccepted": {
        "value": {
          "id": "ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "accepted",
          "stage": "queued",
          "progress_percent": 0,
          "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "audio_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ac",
          "sync_mode": "bounce",
          "engines": [
            {
              "engine": "musetalk",
              "status": "accepted",
              "stage": "queued",
              "progress_percent": 0,
              "usage": {
                "engine": "musetalk",
                "status": "accepted",
                "gpu_inference_seconds": null,
                "billed_pod_seconds": null,
                "observed_pod_seconds": null,
                "estimated_compute_usd": null,
                "gpu_models": [],
                "estimate_coverage": "unavailable"
              }
            }
          ],
          "created_at": "2026-01-01T00:00:00.000Z",
          "updated_at": "2026-01-01T00:00:00.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z",
          "status_url": "https://api.example.com/v1/renders/ren_01k3v9m5e8q4x7r2t6w0y1z3ab"
        }
      },
      "RenderProcessing": {
        "value": {
          "id": "ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "processing",
          "stage": "rendering",
          "progress_percent": 60,
          "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "audio_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ac",
          "sync_mode": "bounce",
          "engines": [
            {
              "engine": "musetalk",
              "status": "processing",
              "stage": "inferencing",
              "progress_percent": 50,
              "usage": {
                "engine": "musetalk",
                "status": "processing",
                "gpu_inference_seconds": null,
                "billed_pod_seconds": null,
                "observed_pod_seconds": null,
                "estimated_compute_usd": null,
                "gpu_models": [],
                "estimate_coverage": "unavailable"
              }
            }
          ],
          "created_at": "2026-01-01T00:00:00.000Z",
          "updated_at": "2026-01-01T00:00:05.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z",
          "status_url": "https://api.example.com/v1/renders/ren_01k3v9m5e8q4x7r2t6w0y1z3ab"
        }
      },
      "RenderCompleted": {
        "value": {
          "id": "ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "completed",
          "stage": "completed",
          "progress_percent": 100,
          "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "audio_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ac",
          "sync_mode": "bounce",
          "engines": [
            {
              "engine": "musetalk",
              "status": "completed",
              "stage": "completed",
              "progress_percent": 100,
              "usage": {
                "input_video_seconds": 4,
                "input_audio_seconds": 8.64,
                "output_seconds": 8.64,
                "analyzed_frames": 100,
                "rendered_frames": 216,
                "processing_ms": 5400,
                "engine": "musetalk",
                "status": "completed",
                "gpu_inference_seconds": null,
                "billed_pod_seconds": null,
                "observed_pod_seconds": null,
                "estimated_compute_usd": null,
                "gpu_models": [],
                "estimate_coverage": "unavailable"
              },
              "output": {
                "url": "https://media.example.com/outputs/video.mp4?X-Amz-Signature=abc",
                "expires_at": "2026-01-01T00:15:10.000Z"
              }
            }
          ],
          "created_at": "2026-01-01T00:00:00.000Z",
          "updated_at": "2026-01-01T00:00:09.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z",
          "status_url": "https://api.example.com/v1/renders/ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "completed_at": "2026-01-01T00:00:09.000Z",
          "webhook_event_id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab"
        }
      },
      "RenderFailed": {
        "value": {
          "id": "ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "failed",
          "stage": "failed",
          "progress_percent": 10,
          "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "audio_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ac",
          "sync_mode": "bounce",
          "engines": [
            {
              "engine": "musetalk",
              "status": "failed",
              "stage": "failed",
              "progress_percent": 0,
              "usage": {
                "engine": "musetalk",
                "status": "failed",
                "gpu_inference_seconds": null,
                "billed_pod_seconds": null,
                "observed_pod_seconds": null,
                "estimated_compute_usd": null,
                "gpu_models": [],
                "estimate_coverage": "unavailable"
              },
              "error": {
                "code": "no_face_detected",
                "message": "No face was found in the frames that are used; send a video that shows a face.",
                "retryable": false
              }
            }
          ],
          "created_at": "2026-01-01T00:00:00.000Z",
          "updated_at": "2026-01-01T00:00:09.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z",
          "status_url": "https://api.example.com/v1/renders/ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "completed_at": "2026-01-01T00:00:09.000Z",
          "webhook_event_id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "error": {
            "code": "no_face_detected",
            "message": "No face was found in the frames that are used; send a video that shows a face.",
            "retryable": false
          }
        }
      },
      "RenderCancelled": {
        "value": {
          "id": "ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "cancelled",
          "stage": "cancelled",
          "progress_percent": 25,
          "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "audio_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ac",
          "sync_mode": "bounce",
          "engines": [
            {
              "engine": "musetalk",
              "status": "cancelled",
              "stage": "cancelled",
              "progress_percent": 0,
              "usage": {
                "engine": "musetalk",
                "status": "cancelled",
                "gpu_inference_seconds": null,
                "billed_pod_seconds": null,
                "observed_pod_seconds": null,
                "estimated_compute_usd": null,
                "gpu_models": [],
                "estimate_coverage": "unavailable"
              }
            }
          ],
          "created_at": "2026-01-01T00:00:00.000Z",
          "updated_at": "2026-01-01T00:00:09.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z",
          "status_url": "https://api.example.com/v1/renders/ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "completed_at": "2026-01-01T00:00:09.000Z",
          "webhook_event_id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab"
        }
      },
      "PreparationAccepted": {
        "value": {
          "id": "prp_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "accepted",
          "stage": "queued",
          "progress_percent": 0,
          "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "created_at": "2026-01-01T00:00:00.000Z",
          "updated_at": "2026-01-01T00:00:00.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z",
          "status_url": "https://api.example.com/v1/preparations/prp_01k3v9m5e8q4x7r2t6w0y1z3ab"
        }
      },
      "PreparationCompleted": {
        "value": {
          "id": "prp_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "completed",
          "stage": "completed",
          "progress_percent": 100,
          "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "created_at": "2026-01-01T00:00:00.000Z",
          "updated_at": "2026-01-01T00:00:05.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z",
          "status_url": "https://api.example.com/v1/preparations/prp_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "completed_at": "2026-01-01T00:00:05.000Z",
          "preparation": {
            "version": "1",
            "analyzer_version": "builtin-analyzer-1",
            "frames": 100,
            "fps": 25,
            "width": 1280,
            "height": 720,
            "duration_seconds": 4
          }
        }
      },
      "UploadAwaiting": {
        "value": {
          "id": "upl_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "awaiting_upload",
          "upload_url": "https://media.example.com/uploads/upl?X-Amz-Signature=abc",
          "expires_at": "2026-01-01T00:15:00.000Z",
          "method": "PUT",
          "required_headers": {
            "Content-Type": "video/mp4",
            "Content-Length": "1048576"
          },
          "complete_url": "https://api.example.com/v1/uploads/upl_01k3v9m5e8q4x7r2t6w0y1z3ab/complete"
        }
      },
      "AssetPending": {
        "value": {
          "id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "media_type": "video",
          "status": "pending",
          "stage": "queued",
          "content_type": "video/mp4",
          "media": {
            "size_bytes": 1048576,
            "duration_seconds": 0,
            "codec": "unknown"
          },
          "created_at": "2026-01-01T00:00:00.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z"
        }
      },
      "AssetReady": {
        "value": {
          "id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "media_type": "video",
          "status": "ready",
          "stage": "ready",
          "content_type": "video/mp4",
          "media": {
            "size_bytes": 1048576,
            "duration_seconds": 4,
            "codec": "h264",
            "width": 1280,
            "height": 720,
            "frames": 120,
            "fps": 29.97
          },
          "created_at": "2026-01-01T00:00:00.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z"
        }
      },
      "AssetFailed": {
        "value": {
          "id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "media_type": "video",
          "status": "failed",
          "stage": "failed",
          "media": {
            "size_bytes": 0,
            "duration_seconds": 0,
            "codec": "unknown"
          },
          "error": {
            "code": "media_download_failed",
            "message": "The media could not be downloaded; check that its server answers and try again.",
            "retryable": true
          },
          "created_at": "2026-01-01T00:00:00.000Z",
          "expires_at": "2026-01-08T00:00:00.000Z"
        }
      },
      "DeliveryDelivered": {
        "value": {
          "id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "event_type": "render.completed",
          "delivery_id": "dlv_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "delivered",
          "attempts": 1,
          "last_http_status": 200,
          "created_at": "2026-01-01T00:00:09.000Z",
          "updated_at": "2026-01-01T00:00:10.000Z",
          "expires_at": "2026-01-08T00:00:09.000Z"
        }
      },
      "DeliveryPending": {
        "value": {
          "id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "event_type": "render.completed",
          "delivery_id": "dlv_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "status": "pending",
          "attempts": 2,
          "last_http_status": 500,
          "last_error": "http_error",
          "created_at": "2026-01-01T00:00:09.000Z",
          "updated_at": "2026-01-01T00:00:20.000Z",
          "next_attempt_at": "2026-01-01T00:01:20.000Z",
          "expires_at": "2026-01-08T00:00:09.000Z"
        }
      },
      "EventRenderCompleted": {
        "value": {
          "id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "type": "render.completed",
          "created_at": "2026-01-01T00:00:09.000Z",
          "data": {
            "id": "ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "status": "completed",
            "stage": "completed",
            "progress_percent": 100,
            "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "audio_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ac",
            "sync_mode": "bounce",
            "engines": [
              {
                "engine": "musetalk",
                "status": "completed",
                "stage": "completed",
                "progress_percent": 100,
                "usage": {
                  "input_video_seconds": 4,
                  "input_audio_seconds": 8.64,
                  "output_seconds": 8.64,
                  "analyzed_frames": 100,
                  "rendered_frames": 216,
                  "processing_ms": 5400,
                  "engine": "musetalk",
                  "status": "completed",
                  "gpu_inference_seconds": null,
                  "billed_pod_seconds": null,
                  "observed_pod_seconds": null,
                  "estimated_compute_usd": null,
                  "gpu_models": [],
                  "estimate_coverage": "unavailable"
                }
              }
            ],
            "created_at": "2026-01-01T00:00:00.000Z",
            "updated_at": "2026-01-01T00:00:09.000Z",
            "expires_at": "2026-01-08T00:00:00.000Z",
            "status_url": "https://api.example.com/v1/renders/ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "completed_at": "2026-01-01T00:00:09.000Z",
            "webhook_event_id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab"
          }
        }
      },
      "EventRenderFailed": {
        "value": {
          "id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "type": "render.failed",
          "created_at": "2026-01-01T00:00:09.000Z",
          "data": {
            "id": "ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "status": "failed",
            "stage": "failed",
            "progress_percent": 10,
            "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "audio_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ac",
            "sync_mode": "bounce",
            "engines": [
              {
                "engine": "musetalk",
                "status": "failed",
                "stage": "failed",
                "progress_percent": 0,
                "usage": {
                  "engine": "musetalk",
                  "status": "failed",
                  "gpu_inference_seconds": null,
                  "billed_pod_seconds": null,
                  "observed_pod_seconds": null,
                  "estimated_compute_usd": null,
                  "gpu_models": [],
                  "estimate_coverage": "unavailable"
                },
                "error": {
                  "code": "no_face_detected",
                  "message": "No face was found in the frames that are used; send a video that shows a face.",
                  "retryable": false
                }
              }
            ],
            "created_at": "2026-01-01T00:00:00.000Z",
            "updated_at": "2026-01-01T00:00:09.000Z",
            "expires_at": "2026-01-08T00:00:00.000Z",
            "status_url": "https://api.example.com/v1/renders/ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "completed_at": "2026-01-01T00:00:09.000Z",
            "webhook_event_id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "error": {
              "code": "no_face_detected",
              "message": "No face was found in the frames that are used; send a video that shows a face.",
              "retryable": false
            }
          }
        }
      },
      "EventRenderCancelled": {
        "value": {
          "id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "type": "render.cancelled",
          "created_at": "2026-01-01T00:00:09.000Z",
          "data": {
            "id": "ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "status": "cancelled",
            "stage": "cancelled",
            "progress_percent": 25,
            "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "audio_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ac",
            "sync_mode": "bounce",
            "engines": [
              {
                "engine": "musetalk",
                "status": "cancelled",
                "stage": "cancelled",
                "progress_percent": 0,
                "usage": {
                  "engine": "musetalk",
                  "status": "cancelled",
                  "gpu_inference_seconds": null,
                  "billed_pod_seconds": null,
                  "observed_pod_seconds": null,
                  "estimated_compute_usd": null,
                  "gpu_models": [],
                  "estimate_coverage": "unavailable"
                }
              }
            ],
            "created_at": "2026-01-01T00:00:00.000Z",
            "updated_at": "2026-01-01T00:00:09.000Z",
            "expires_at": "2026-01-08T00:00:00.000Z",
            "status_url": "https://api.example.com/v1/renders/ren_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "completed_at": "2026-01-01T00:00:09.000Z",
            "webhook_event_id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab"
          }
        }
      },
      "EventPreparationCompleted": {
        "value": {
          "id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "type": "preparation.completed",
          "created_at": "2026-01-01T00:00:05.000Z",
          "data": {
            "id": "prp_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "status": "completed",
            "stage": "completed",
            "progress_percent": 100,
            "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "created_at": "2026-01-01T00:00:00.000Z",
            "updated_at": "2026-01-01T00:00:05.000Z",
            "expires_at": "2026-01-08T00:00:00.000Z",
            "status_url": "https://api.example.com/v1/preparations/prp_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "completed_at": "2026-01-01T00:00:05.000Z",
            "preparation": {
              "version": "1",
              "analyzer_version": "builtin-analyzer-1",
              "frames": 100,
              "fps": 25,
              "width": 1280,
              "height": 720,
              "duration_seconds": 4
            },
            "webhook_event_id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab"
          }
        }
      },
      "EventPreparationFailed": {
        "value": {
          "id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab",
          "type": "preparation.failed",
          "created_at": "2026-01-01T00:00:05.000Z",
          "data": {
            "id": "prp_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "status": "failed",
            "stage": "failed",
            "progress_percent": 10,
            "video_asset_id": "ast_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "created_at": "2026-01-01T00:00:00.000Z",
            "updated_at": "2026-01-01T00:00:05.000Z",
            "expires_at": "2026-01-08T00:00:00.000Z",
            "status_url": "https://api.example.com/v1/preparations/prp_01k3v9m5e8q4x7r2t6w0y1z3ab",
            "completed_at": "2026-01-01T00:00:05.000Z",
            "error": {
              "code": "no_face_detected",
              "message": "No face was found in the frames that are used; send a video that shows a face.",
              "retryable": false
            },
            "webhook_event_id": "evt_01k3v9m5e8q4x7r2t6w0y1z3ab"
          }
        }
      },
      "InvalidRequest": {
        "value": {
          "error": {
            "code": "invalid_request",
            "message": "/engines must not contain duplicates.",
            "retryable": false
          }
        }
      },
      "InvalidApiKey": {
        "value": {
          "error": {
            "code": "invalid_api_key",
            "message": "Send a valid API key as a bearer token.",
            "retryable": false
          }
        }
      },
      "RenderNotFound": {
        "value": {
          "error": {
            "code": "render_not_found",
            "message": "No render with this id exists for this API key.",
            "retryable": false
          }
        }
      },
      "MethodNotAllowed": {
        "value": {
          "error": {
            "code": "method_not_allowed",
            "message": "Use a method that is listed in the Allow header.",
            "retryable": false
          }
        }
      },
      "IdempotencyKeyReused": {
        "value": {
          "error": {
            "code": "idempotency_key_reused",
            "message": "The idempotency key was used for another request; use a new key.",
            "retryable": false
          }
        }
      },
      "RenderExpired": {
        "value": {
          "error": {
            "code": "render_expired",
            "message": "The render has expired; create a new one.",
            "retryable": false
          }
        }
      },
      "BodyTooLarge": {
        "value": {
          "error": {
            "code": "body_too_large",
            "message": "Send a body of at most 64 KiB.",
            "retryable": false
          }
        }
      },
      "RateLimitExceeded": {
        "value": {
          "error": {
            "code": "rate_limit_exceeded",
            "message": "Too many requests; wait for the time in the Retry-After header.",
            "retryable": true
          }
        }
      },
      "EngineUnavailable": {
        "value": {
          "error": {
            "code": "engine_unavailable",
            "message": "A requested engine is temporarily unavailable; try again later.",
            "retryable": true
          }
        }
      }
    }
  },
  "x-error-catalogue": {
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
  }
} as const;
