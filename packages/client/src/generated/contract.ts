// Generated from openapi/openapi.yaml by scripts/generate.mjs. Do not edit.
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
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Engine = components['schemas']['Engine'];
export type SyncMode = components['schemas']['SyncMode'];
export type MediaType = components['schemas']['MediaType'];
export type RecordStatus = components['schemas']['RecordStatus'];
export type AssetStatus = components['schemas']['AssetStatus'];
export type DeliveryStatus = components['schemas']['DeliveryStatus'];
export type WebhookEventType = components['schemas']['WebhookEventType'];
export type Input = components['schemas']['Input'];
export type AssetInput = components['schemas']['AssetInput'];
export type UrlInput = components['schemas']['UrlInput'];
export type RenderRequest = components['schemas']['RenderRequest'];
export type PreparationRequest = components['schemas']['PreparationRequest'];
export type UploadRequest = components['schemas']['UploadRequest'];
export type AssetRequest = components['schemas']['AssetRequest'];
export type Record = components['schemas']['Record'];
export type EngineResult = components['schemas']['EngineResult'];
export type Output = components['schemas']['Output'];
export type Usage = components['schemas']['Usage'];
export type Preparation = components['schemas']['Preparation'];
export type Asset = components['schemas']['Asset'];
export type Media = components['schemas']['Media'];
export type Upload = components['schemas']['Upload'];
export type Delivery = components['schemas']['Delivery'];
export type WebhookEvent = components['schemas']['WebhookEvent'];
export type ErrorResponse = components['schemas']['ErrorResponse'];
export type Error = components['schemas']['Error'];
/** Every error code, with the status of the response that carries it (null: none does) and where it occurs. */
export interface ErrorCatalogue {
    /** Send a JSON object as the body. */
    invalid_json: { status: 400; where: "request" };
    /** Send the body with Content-Type application/json. */
    invalid_content_type: { status: 400; where: "request" };
    /** Correct the request to match the published schema. */
    invalid_request: { status: 400; where: "request" };
    /** Use a public https URL on port 443, at most 8192 characters long and without a user name or password, or upload the file. */
    invalid_media_url: { status: 400; where: "request" };
    /** Use a public https URL, at most 8192 characters long and without a user name or password; for a receiver on your own machine, run lipsync webhook listen. */
    invalid_webhook_url: { status: 400; where: "request" };
    /** Send one idempotency key of at most 128 characters. */
    invalid_idempotency_key: { status: 400; where: "request" };
    /** Send the same idempotency key in the header and in the body, or only one of them. */
    idempotency_key_mismatch: { status: 400; where: "request" };
    /** Use a content_type that is supported for this media_type. */
    unsupported_content_type: { status: 400; where: "request" };
    /** Use a video asset for video and an audio asset for audio. */
    asset_type_mismatch: { status: 400; where: "request" };
    /** Use the preparation only with the video that it was made from. */
    preparation_mismatch: { status: 400; where: "request" | "record" | "engine" };
    /** Send a valid API key as a bearer token. */
    invalid_api_key: { status: 401; where: "request" };
    /** The path does not exist; see the documentation for the paths of this service. */
    not_found: { status: 404; where: "request" };
    /** No render with this id exists for this API key. */
    render_not_found: { status: 404; where: "request" };
    /** No preparation with this id exists for this API key. */
    preparation_not_found: { status: 404; where: "request" };
    /** No asset with this id exists for this API key. */
    asset_not_found: { status: 404; where: "request" };
    /** No upload with this id exists for this API key. */
    upload_not_found: { status: 404; where: "request" };
    /** No webhook event with this id exists for this API key. */
    webhook_event_not_found: { status: 404; where: "request" };
    /** Use a method that is listed in the Allow header. */
    method_not_allowed: { status: 405; where: "request" };
    /** The idempotency key was used for another request; use a new key. */
    idempotency_key_reused: { status: 409; where: "request" };
    /** The first request with this idempotency key is still being processed; try again shortly. */
    idempotency_in_progress: { status: 409; where: "request" };
    /** Only accepted and processing renders can be cancelled; this one has finished. */
    render_not_cancellable: { status: 409; where: "request" };
    /** The asset's upload is not complete; complete it first. */
    asset_not_ready: { status: 409; where: "request" };
    /** The asset has failed; use another asset. */
    asset_failed: { status: 409; where: "request" };
    /** The preparation has not finished; try again once it has completed. */
    preparation_not_ready: { status: 409; where: "request" };
    /** The preparation did not complete; create a new one. */
    preparation_failed: { status: 409; where: "request" };
    /** The bytes have not arrived; send them to upload_url, then complete the upload. */
    upload_incomplete: { status: 409; where: "request" };
    /** The size of the file differs from size_bytes; create a new upload. */
    upload_size_mismatch: { status: 409; where: "request" };
    /** The render has expired; create a new one. */
    render_expired: { status: 410; where: "request" };
    /** The preparation has expired; create a new one. */
    preparation_expired: { status: 410; where: "request" | "record" | "engine" };
    /** The asset has expired; create a new one. */
    asset_expired: { status: 410; where: "request" };
    /** The upload was not completed in time; create a new one. */
    upload_expired: { status: 410; where: "request" | "asset" | "record" | "engine" };
    /** The webhook event has expired; fetch the render or preparation instead. */
    webhook_event_expired: { status: 410; where: "request" };
    /** Send a body of at most 64 KiB. */
    body_too_large: { status: 413; where: "request" };
    /** Too many requests; wait for the time in the Retry-After header. */
    rate_limit_exceeded: { status: 429; where: "request" };
    /** Too many unfinished renders, preparations or uploads; wait for one to finish. */
    concurrency_limit_exceeded: { status: 429; where: "request" };
    /** The service is temporarily unavailable; try again later. */
    service_unavailable: { status: 503; where: "request" };
    /** A requested engine is temporarily unavailable; try again later. */
    engine_unavailable: { status: 503; where: "request" | "record" | "engine" };
    /** Something went wrong on our side; try again later. */
    internal_error: { status: 503; where: "request" | "asset" | "record" | "engine" };
    /** The media could not be downloaded; check that its server answers and try again. */
    media_download_failed: { status: null; where: "asset" | "record" | "engine" };
    /** The media URL does not lead to a media file; check that it is public and points to the file itself. */
    media_not_accessible: { status: null; where: "asset" | "record" | "engine" };
    /** The media URL leads to an address that is not allowed or through more than three redirects; use a public https URL on port 443. */
    media_url_not_allowed: { status: null; where: "asset" | "record" | "engine" };
    /** The media is larger than 256 MiB; use a smaller file. */
    media_too_large: { status: null; where: "asset" | "record" | "engine" };
    /** The media is longer than 300 seconds; use a shorter file. */
    media_too_long: { status: null; where: "asset" | "record" | "engine" };
    /** The media is not of the declared type; video needs a video stream and audio needs an audio stream. */
    media_type_mismatch: { status: null; where: "asset" | "record" | "engine" };
    /** The format, the frame size or the number of frames is not supported; send H.264 in MP4 within the published limits, or WAV. */
    media_unsupported: { status: null; where: "asset" | "record" | "engine" };
    /** The media is damaged or empty; export it again. */
    media_corrupt: { status: null; where: "asset" | "record" | "engine" };
    /** The bytes were replaced after the upload was completed; create a new upload. */
    upload_changed: { status: null; where: "asset" | "record" | "engine" };
    /** No face was found in the frames that are used; send a video that shows a face. */
    no_face_detected: { status: null; where: "record" | "engine" };
    /** The engine took too long; create the render again. */
    engine_timeout: { status: null; where: "record" | "engine" };
    /** The engine ran out of memory; create the render again. */
    engine_out_of_memory: { status: null; where: "record" | "engine" };
    /** The work was interrupted repeatedly; create the resource again. */
    worker_lost: { status: null; where: "asset" | "record" | "engine" };
    /** The engine failed; create the render again. */
    engine_failed: { status: null; where: "record" | "engine" };
    /** The result could not be encoded; create the render again. */
    encode_failed: { status: null; where: "record" | "engine" };
    /** Media could not be loaded or stored; create the resource again. */
    storage_failed: { status: null; where: "asset" | "record" | "engine" };
    /** All engines failed for different reasons; see each engine's error. */
    all_engines_failed: { status: null; where: "record" };
    /** The work was not done within two hours; create the resource again. */
    deadline_exceeded: { status: null; where: "asset" | "record" | "engine" };
}
