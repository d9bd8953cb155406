// Generated from openapi/openapi.yaml by scripts/generate.mjs. Do not edit.
export interface paths {
    "/v1/renders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a render
         * @description Renders the video so that its mouth follows the audio, once per requested engine. Answers at once with the accepted record; poll get_render or wait for the webhook. A replay with the same idempotency key and the same payload answers the current state of the first render and never starts another one.
         */
        post: operations["create_render"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/renders/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a render
         * @description The state of the render, its stage and progress, and the result of every engine. Each fetch signs fresh download URLs for the outputs that exist. HEAD is answered like GET, without the body.
         */
        get: operations["get_render"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/renders/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a render
         * @description Cancels an accepted or processing render: once this is answered the render never becomes completed. Engines that had completed keep their output and usage. Downloads of this render's `url`s stop, and their assets fail, unless another record waits for them. Cancelling a cancelled render answers it unchanged. A body is not needed; a JSON object is ignored.
         */
        post: operations["cancel_render"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preparations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a preparation
         * @description Analyzes a video once, so that renders which name the preparation skip the analysis. Idempotency works as for renders; keys are shared between both operations.
         */
        post: operations["create_preparation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preparations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch a preparation
         * @description The state of the preparation and, once completed, the measures of the analyzed video.
         */
        get: operations["get_preparation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an upload
         * @description Creates an asset that awaits its bytes and a signed URL for them. Send the bytes with PUT and exactly the required headers, then call complete_upload. The signature binds content type and length.
         */
        post: operations["create_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/uploads/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete an upload
         * @description Call this when the bytes have arrived. The service freezes them and starts to verify them. Completing twice answers the current asset and starts nothing. Accepted until 15 minutes after expires_at when the bytes are there. A body is not needed; a JSON object is ignored.
         */
        post: operations["complete_upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an asset from a URL
         * @description Downloads the media and verifies it. Not idempotent: every call creates another asset.
         */
        post: operations["create_asset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/assets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch an asset
         * @description The state of the asset. Its media measures are placeholders (duration 0, codec "unknown") until it is ready.
         */
        get: operations["get_asset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Fetch the delivery of a webhook event
         * @description The state of the delivery of one webhook event, whether it is pending, delivered or given up.
         */
        get: operations["get_webhook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "render.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * At least one engine of the render completed
         * @description At least one engine of the render completed. Sent to the webhook_url of the request; see the tag for signature and retries.
         */
        post: operations["render_completed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "render.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * No engine of the render completed
         * @description No engine of the render completed. Sent to the webhook_url of the request; see the tag for signature and retries.
         */
        post: operations["render_failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "render.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The render was cancelled
         * @description The render was cancelled. Sent to the webhook_url of the request; see the tag for signature and retries.
         */
        post: operations["render_cancelled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "preparation.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The preparation completed
         * @description The preparation completed. Sent to the webhook_url of the request; see the tag for signature and retries.
         */
        post: operations["preparation_completed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "preparation.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The preparation failed
         * @description The preparation failed. Sent to the webhook_url of the request; see the tag for signature and retries.
         */
        post: operations["preparation_failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @enum {string} */
        Engine: "musetalk" | "latentsync" | "highsync";
        /**
         * @description How video and audio of different lengths are brought together; see the rules for all operations.
         * @enum {string}
         */
        SyncMode: "cut_off" | "bounce" | "loop" | "remap" | "silence";
        /** @enum {string} */
        MediaType: "video" | "audio";
        /**
         * @description accepted → processing → completed, failed or cancelled. The last three never change again.
         * @enum {string}
         */
        RecordStatus: "accepted" | "processing" | "completed" | "failed" | "cancelled";
        /**
         * @description Uploads start at awaiting_upload, URLs at pending.
         * @enum {string}
         */
        AssetStatus: "awaiting_upload" | "pending" | "ready" | "failed";
        /** @enum {string} */
        DeliveryStatus: "pending" | "delivered" | "failed";
        /** @enum {string} */
        WebhookEventType: "render.completed" | "render.failed" | "render.cancelled" | "preparation.completed" | "preparation.failed";
        /** @description Either an existing asset or a URL to download from. */
        Input: components["schemas"]["AssetInput"] | components["schemas"]["UrlInput"];
        AssetInput: {
            /** @description The id of an asset that is pending or ready. */
            asset_id: string;
        };
        UrlInput: {
            /**
             * Format: uri
             * @description A public https URL on port 443 without a user name or password, at most 8192 characters.
             */
            url: string;
        };
        RenderRequest: {
            video: components["schemas"]["Input"];
            audio: components["schemas"]["Input"];
            engines: components["schemas"]["Engine"][];
            sync_mode: components["schemas"]["SyncMode"];
            /** @description A completed preparation of the same video. */
            preparation_id?: string;
            /**
             * Format: uri
             * @description A public https URL, any port; called once when the render is terminal.
             */
            webhook_url?: string;
            idempotency_key?: string;
        };
        PreparationRequest: {
            video: components["schemas"]["Input"];
            /**
             * Format: uri
             * @description A public https URL, any port; called once when the preparation is terminal.
             */
            webhook_url?: string;
            idempotency_key?: string;
        };
        UploadRequest: {
            media_type: components["schemas"]["MediaType"];
            /** @description video/mp4, video/quicktime, video/webm, video/x-matroska; audio/mpeg, audio/wav, audio/x-wav, audio/wave, audio/mp4, audio/x-m4a, audio/aac, audio/ogg, audio/flac, audio/webm. Parameters are ignored. The bytes decide what the file is: one of another accepted kind declares any of these. */
            content_type: string;
            /** @description The exact number of bytes that will be sent. */
            size_bytes: number;
        };
        AssetRequest: {
            /**
             * Format: uri
             * @description A public https URL on port 443 without a user name or password, at most 8192 characters.
             */
            url: string;
            media_type: components["schemas"]["MediaType"];
        };
        /** @description A render or a preparation. */
        Record: {
            id: string;
            status: components["schemas"]["RecordStatus"];
            /** @description accepted: queued. processing: fetching_inputs, validating_inputs, then for a render preparing (skipped with a preparation), rendering, finalizing and for a preparation analyzing, finalizing; once the media are ready, queued again while its next work waits for a free worker. Afterwards the status. New stages may appear. */
            stage: string;
            /** @description Never falls. 100 exactly when completed; keeps its last value when failed or cancelled. */
            progress_percent: number;
            /** @description The asset that was named or that was made for the URL. */
            video_asset_id: string;
            /** @description Present on renders. */
            audio_asset_id?: string;
            /** @description Present on renders. */
            sync_mode?: string;
            /** @description The preparation that the render names. */
            preparation_id?: string;
            preparation?: components["schemas"]["Preparation"];
            /** @description Present on renders, in the order of the request; kept after the render finished. */
            engines?: components["schemas"]["EngineResult"][];
            /** @description Present once the event of this record exists. */
            webhook_event_id?: string;
            error?: components["schemas"]["Error"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /**
             * Format: date-time
             * @description When the record became terminal.
             */
            completed_at?: string;
            /** Format: date-time */
            expires_at: string;
            /** @description The URL to fetch this record from. */
            status_url: string;
        };
        EngineResult: {
            engine: components["schemas"]["Engine"];
            /** @description accepted, processing, completed, failed or cancelled. */
            status: string;
            /** @description accepted: queued. processing: loading_model, inferencing, encoding, uploading; queued again after an interruption. Afterwards the status. New stages may appear. */
            stage: string;
            progress_percent: number;
            usage: components["schemas"]["Usage"];
            output?: components["schemas"]["Output"];
            error?: components["schemas"]["Error"];
        };
        Output: {
            /**
             * Format: uri
             * @description Signed download URL, for GET alone (with or without Range); valid for 15 minutes.
             */
            url: string;
            /** Format: date-time */
            expires_at: string;
        };
        /** @description What one engine used. The measurements are present once it is completed. */
        Usage: {
            /** @description Length of the video input. */
            input_video_seconds?: number;
            /** @description Length of the audio input. */
            input_audio_seconds?: number;
            /** @description Length of the output. */
            output_seconds?: number;
            /** @description Frames that this engine searched for a face; 0 if the video had been analyzed before. */
            analyzed_frames?: number;
            /** @description Frames of the output. */
            rendered_frames?: number;
            /** @description Time that a worker spent on this engine, loading and storing included, waiting in the queue excluded. */
            processing_ms?: number;
            /** @description Time in networks on a GPU. Null when none was used. */
            gpu_inference_seconds?: number | null;
            /** @description Machine time that is charged, as this engine's share of the machine. Null when not measured. */
            billed_pod_seconds?: number | null;
            /** @description What the billed machine time costs, in US dollars; where that is not measured, an estimate by the length of the output, if the operator has prices. Null without either. */
            estimated_compute_usd?: number | null;
            /** @description The part of the machine time that the provider has measured already. Null when not measured. */
            observed_pod_seconds?: number | null;
            engine?: components["schemas"]["Engine"];
            /** @description As the status of the engine's result. */
            status?: string;
            /** @description Names of the GPUs that were used. Empty if none was, or if the machine has several models. */
            gpu_models?: string[];
            /**
             * @description How much of the work was measured: nothing, part of it, or all of it.
             * @enum {string}
             */
            estimate_coverage?: "unavailable" | "partial" | "observed";
        };
        /** @description What the analysis of the video found. `frames` is the number of frames in a render of the whole video; `fps` is their usual rate, rounded. */
        Preparation: {
            version?: string;
            analyzer_version?: string;
            frames?: number;
            fps?: number;
            width?: number;
            height?: number;
            duration_seconds?: number;
        };
        Asset: {
            id: string;
            media_type: components["schemas"]["MediaType"];
            status: components["schemas"]["AssetStatus"];
            /** @description awaiting_upload; pending: queued, downloading or verifying, probing; ready; failed. New stages may appear. */
            stage: string;
            /** @description For an upload, the declared type. For a URL, the type that its server sent, if an upload could declare it; otherwise application/octet-stream. media.codec says what was found. */
            content_type?: string;
            media: components["schemas"]["Media"];
            error?: components["schemas"]["Error"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
        };
        /** @description Until the asset is ready: the declared size (0 for a URL), duration 0, codec "unknown". Then width and height as shown after rotation, and the mean rate. */
        Media: {
            size_bytes: number;
            duration_seconds: number;
            codec: string;
            width?: number;
            height?: number;
            frames?: number;
            fps?: number;
        };
        Upload: {
            id: string;
            /** @description The asset that the upload fills. */
            asset_id: string;
            /** @description awaiting_upload, completed or expired. */
            status: string;
            /** @description Signed URL for the bytes. */
            upload_url: string;
            /** Format: date-time */
            expires_at: string;
            /** @constant */
            method: "PUT";
            /** @description Send exactly these with the PUT. Browsers set Content-Length themselves. */
            required_headers: {
                [key: string]: string;
            };
            /** @description POST here when the bytes are sent. */
            complete_url: string;
        };
        Delivery: {
            /** @description The id of the event. */
            id?: string;
            /** @description As the type of the event. */
            event_type?: string;
            /** @description The value of the header Svc-Delivery-ID. */
            delivery_id?: string;
            status?: components["schemas"]["DeliveryStatus"];
            /** @description Attempts made so far, one that is under way included; at most 11. */
            attempts?: number;
            last_http_status?: number;
            /** @description The class of the last failure: timeout, dns_error, connection_failed, tls_error, address_not_allowed, redirect, http_error. */
            last_error?: string;
            /** Format: date-time */
            created_at?: string;
            /** Format: date-time */
            updated_at?: string;
            /**
             * Format: date-time
             * @description Present while pending: when the next attempt is due. During an attempt: when the next one follows if the outcome of this one is lost.
             */
            next_attempt_at?: string;
            /** Format: date-time */
            expires_at?: string;
        };
        WebhookEvent: {
            /** @description Use it for deduplication. */
            id: string;
            type: components["schemas"]["WebhookEventType"];
            /** Format: date-time */
            created_at: string;
            /** @description The record at the time of the event; data.id identifies the render or preparation. Engine results have no output, because signed URLs would expire between retries: fetch the render for fresh ones. */
            data: components["schemas"]["Record"];
        };
        ErrorResponse: {
            error: components["schemas"]["Error"];
        };
        Error: {
            /** @description One of the codes of x-error-catalogue. New codes may appear. */
            code: string;
            /** @description For people: the message of x-error-catalogue, or a more specific one (which limit was exceeded, and by what). If it concerns a part of the request, that comes first: `/audio: …`. */
            message: string;
            /** @description The same request sent again later can succeed unchanged. */
            retryable: boolean;
        };
    };
    responses: {
        /** @description The request can never succeed, whatever the state. */
        InvalidRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The API key is missing, malformed, unknown or revoked. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The path or a named resource is unknown, or belongs to another customer. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The path exists, but not with this method. */
        MethodNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Allow: components["headers"]["Allow"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description Refused because of the state of a resource or because of the idempotency key. */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The resource has expired. */
        Gone: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The JSON body is larger than 64 KiB. */
        BodyTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description A rate or a concurrency limit is reached. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
        /** @description The service or a requested engine is temporarily unavailable. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Cache-Control": components["headers"]["Cache-Control"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ErrorResponse"];
            };
        };
    };
    parameters: {
        /**
         * @description Makes repeating this request safe. Must equal the property idempotency_key if both are given.
         * @example order-4711-take-2
         */
        IdempotencyKey: string;
        /**
         * @description The id of the render.
         * @example ren_01k3v9m5e8q4x7r2t6w0y1z3ab
         */
        RenderId: string;
        /**
         * @description The id of the preparation.
         * @example prp_01k3v9m5e8q4x7r2t6w0y1z3ab
         */
        PreparationId: string;
        /**
         * @description The id of the upload.
         * @example upl_01k3v9m5e8q4x7r2t6w0y1z3ab
         */
        UploadId: string;
        /**
         * @description The id of the asset.
         * @example ast_01k3v9m5e8q4x7r2t6w0y1z3ab
         */
        AssetId: string;
        /**
         * @description The id of the webhook event.
         * @example evt_01k3v9m5e8q4x7r2t6w0y1z3ab
         */
        WebhookEventId: string;
        /**
         * @description The id of the event. Constant over attempts. It is not signed; deduplicate by the id in the body, which is.
         * @example evt_01k3v9m5e8q4x7r2t6w0y1z3ab
         */
        SvcEventId: string;
        /**
         * @description The id of the delivery, part of the signed bytes. Constant over attempts.
         * @example dlv_01k3v9m5e8q4x7r2t6w0y1z3ab
         */
        SvcDeliveryId: string;
        /**
         * @description Fresh at every attempt; see the description of this group.
         * @example t=1767225600,v1=7d38cdd689735b008b3c702edd92eea23791c5f6b0e1d2f3a4b5c6d7e8f90a1b
         */
        SvcSignature: string;
    };
    requestBodies: never;
    headers: {
        /** @description The URL of what was created: the status_url of a render or preparation; for an asset, or the asset of an upload, its URL in get_asset. */
        Location: string;
        /** @description Names this request in the logs of the service. A value sent by the caller is kept when it is at most 128 characters of A-Z a-z 0-9 . _ - */
        "X-Request-Id": string;
        /** @description Requests per minute that the customer may send with this kind of method; with 429 for requests without a valid key, those of their IP address. */
        "RateLimit-Limit": number;
        /** @description Requests left. */
        "RateLimit-Remaining": number;
        /** @description Seconds until the full limit is available again. */
        "RateLimit-Reset": number;
        /** @description Seconds to wait before sending the request again. On a fetch of an unfinished resource it says when to look again. */
        "Retry-After": number;
        /** @description Present when the idempotency key named an earlier request, whose resource this is. */
        "Idempotent-Replayed": "true";
        /** @description The methods that the path has. */
        Allow: string;
        /** @description The scheme of the credential. */
        "WWW-Authenticate": "Bearer";
        /** @description Responses hold signed URLs and changing states. */
        "Cache-Control": "no-store";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    create_render: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating this request safe. Must equal the property idempotency_key if both are given.
                 * @example order-4711-take-2
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenderRequest"];
            };
        };
        responses: {
            /** @description The accepted render, or the current state of the render that the idempotency key names. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Record"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_render: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the render.
                 * @example ren_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                id: components["parameters"]["RenderId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The render. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Record"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancel_render: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the render.
                 * @example ren_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                id: components["parameters"]["RenderId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cancelled render. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Record"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    create_preparation: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes repeating this request safe. Must equal the property idempotency_key if both are given.
                 * @example order-4711-take-2
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreparationRequest"];
            };
        };
        responses: {
            /** @description The accepted preparation, or the current state of the one that the idempotency key names. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Record"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_preparation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the preparation.
                 * @example prp_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                id: components["parameters"]["PreparationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The preparation. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Record"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    create_upload: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UploadRequest"];
            };
        };
        responses: {
            /** @description The upload. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    complete_upload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the upload.
                 * @example upl_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                id: components["parameters"]["UploadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The asset that the upload fills. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    create_asset: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssetRequest"];
            };
        };
        responses: {
            /** @description The pending asset. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_asset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the asset.
                 * @example ast_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                id: components["parameters"]["AssetId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The asset. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    get_webhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the webhook event.
                 * @example evt_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                id: components["parameters"]["WebhookEventId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["BodyTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    render_completed: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event. Constant over attempts. It is not signed; deduplicate by the id in the body, which is.
                 * @example evt_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Event-ID": components["parameters"]["SvcEventId"];
                /**
                 * @description The id of the delivery, part of the signed bytes. Constant over attempts.
                 * @example dlv_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Delivery-ID": components["parameters"]["SvcDeliveryId"];
                /**
                 * @description Fresh at every attempt; see the description of this group.
                 * @example t=1767225600,v1=7d38cdd689735b008b3c702edd92eea23791c5f6b0e1d2f3a4b5c6d7e8f90a1b
                 */
                "Svc-Signature": components["parameters"]["SvcSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEvent"];
            };
        };
        responses: {
            /** @description Received. Any other answer and any redirect is a failed attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    render_failed: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event. Constant over attempts. It is not signed; deduplicate by the id in the body, which is.
                 * @example evt_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Event-ID": components["parameters"]["SvcEventId"];
                /**
                 * @description The id of the delivery, part of the signed bytes. Constant over attempts.
                 * @example dlv_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Delivery-ID": components["parameters"]["SvcDeliveryId"];
                /**
                 * @description Fresh at every attempt; see the description of this group.
                 * @example t=1767225600,v1=7d38cdd689735b008b3c702edd92eea23791c5f6b0e1d2f3a4b5c6d7e8f90a1b
                 */
                "Svc-Signature": components["parameters"]["SvcSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEvent"];
            };
        };
        responses: {
            /** @description Received. Any other answer and any redirect is a failed attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    render_cancelled: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event. Constant over attempts. It is not signed; deduplicate by the id in the body, which is.
                 * @example evt_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Event-ID": components["parameters"]["SvcEventId"];
                /**
                 * @description The id of the delivery, part of the signed bytes. Constant over attempts.
                 * @example dlv_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Delivery-ID": components["parameters"]["SvcDeliveryId"];
                /**
                 * @description Fresh at every attempt; see the description of this group.
                 * @example t=1767225600,v1=7d38cdd689735b008b3c702edd92eea23791c5f6b0e1d2f3a4b5c6d7e8f90a1b
                 */
                "Svc-Signature": components["parameters"]["SvcSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEvent"];
            };
        };
        responses: {
            /** @description Received. Any other answer and any redirect is a failed attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    preparation_completed: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event. Constant over attempts. It is not signed; deduplicate by the id in the body, which is.
                 * @example evt_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Event-ID": components["parameters"]["SvcEventId"];
                /**
                 * @description The id of the delivery, part of the signed bytes. Constant over attempts.
                 * @example dlv_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Delivery-ID": components["parameters"]["SvcDeliveryId"];
                /**
                 * @description Fresh at every attempt; see the description of this group.
                 * @example t=1767225600,v1=7d38cdd689735b008b3c702edd92eea23791c5f6b0e1d2f3a4b5c6d7e8f90a1b
                 */
                "Svc-Signature": components["parameters"]["SvcSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEvent"];
            };
        };
        responses: {
            /** @description Received. Any other answer and any redirect is a failed attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    preparation_failed: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The id of the event. Constant over attempts. It is not signed; deduplicate by the id in the body, which is.
                 * @example evt_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Event-ID": components["parameters"]["SvcEventId"];
                /**
                 * @description The id of the delivery, part of the signed bytes. Constant over attempts.
                 * @example dlv_01k3v9m5e8q4x7r2t6w0y1z3ab
                 */
                "Svc-Delivery-ID": components["parameters"]["SvcDeliveryId"];
                /**
                 * @description Fresh at every attempt; see the description of this group.
                 * @example t=1767225600,v1=7d38cdd689735b008b3c702edd92eea23791c5f6b0e1d2f3a4b5c6d7e8f90a1b
                 */
                "Svc-Signature": components["parameters"]["SvcSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEvent"];
            };
        };
        responses: {
            /** @description Received. Any other answer and any redirect is a failed attempt. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
