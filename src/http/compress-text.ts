import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Below this, a response fits into one packet anyway. */
const bytesMin = 1_400;
/** The default, 11, is for files that are compressed once: it takes some hundred milliseconds for the page's script. */
const brotliQuality = 5;

const compressors = {
  br: (text: Buffer) =>
    promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (text: Buffer) => promisify(gzip)(text),
} as const;
type Encoding = keyof typeof compressors;

/**
 * A text in the best encoding that the client accepts. Browsers accept brotli over HTTPS only.
 * @param accepted the request's `accept-encoding`
 */
export async function compressText(
  text: string,
  accepted: string,
): Promise<{ readonly encoding: Encoding; readonly body: Buffer } | undefined> {
  const bytes = Buffer.from(text);
  const encoding = bytes.length < bytesMin ? undefined : acceptedEncoding(accepted);
  return encoding === undefined ? undefined : { encoding, body: await compressors[encoding](bytes) };
}

function acceptedEncoding(accepted: string): Encoding | undefined {
  const offers = accepted
    .toLowerCase()
    .split(',')
    .map((offer) => offer.replaceAll(' ', ''));
  // `q=0` refuses an encoding.
  return (['br', 'gzip'] as const).find((encoding) =>
    offers.some(
      (offer) => offer === encoding || (offer.startsWith(`${encoding};`) && !/q=0(\.0*)?$/.test(offer)),
    ),
  );
}
