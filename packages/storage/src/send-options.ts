/** Options of a call that ends when `signal` is aborted; without a signal it ends by itself alone. */
export function sendOptions(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}
