/** Why a status is no answer to a gate's question; undefined for a 2xx. */
export function refusal(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined;
  if (status >= 300 && status <= 399)
    return `answered ${status}: no redirect is followed, give the right URL`;
  return `answered ${status}`;
}
