import { buildServiceImage, isEngineThere } from '../../containers/docker.ts';

/** The image of the reference service alone, for the tests that start it. Without an engine they say so themselves. */
export async function setup(): Promise<void> {
  if (await isEngineThere()) await buildServiceImage();
}
