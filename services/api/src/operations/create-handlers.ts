import { type OperationId } from '@lipsync/contract';
import { type ApiDeps } from '../api-deps';
import { cancelRender } from './cancel-render';
import { completeUpload } from './complete-upload';
import { createAsset } from './create-asset';
import { createPreparation } from './create-preparation';
import { createRender } from './create-render';
import { createUpload } from './create-upload';
import { getAsset } from './get-asset';
import { getPreparation } from './get-preparation';
import { getRender } from './get-render';
import { getWebhook } from './get-webhook';
import { type Handler } from './operation';

/** The handler of every operation of the contract; a missing one is a compile error. */
export function createHandlers(deps: ApiDeps): Readonly<Record<OperationId, Handler>> {
  return {
    create_render: createRender(deps),
    get_render: getRender(deps),
    cancel_render: cancelRender(deps),
    create_preparation: createPreparation(deps),
    get_preparation: getPreparation(deps),
    create_upload: createUpload(deps),
    complete_upload: completeUpload(deps),
    create_asset: createAsset(deps),
    get_asset: getAsset(deps),
    get_webhook: getWebhook(deps),
  };
}
