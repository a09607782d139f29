/** A request the service refuses: becomes the flat error body (collector-api.md §7.1). */
export class ServiceFailure extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'ServiceFailure';
    this.status = status;
    this.code = code;
  }
}
