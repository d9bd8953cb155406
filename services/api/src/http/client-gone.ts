/** The caller hung up before the request was complete, so there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection before the request was complete');
  }
}
