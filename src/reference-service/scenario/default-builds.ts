/**
 * Builds of a real service, oldest first (field-facts.md, A realistic fleet). Some collectors still run the oldest, but they
 * are no longer on offer.
 */
export const defaultBuilds = [
  { version: '19.137-15', offered: false },
  { version: '19.182-43', offered: false },
  { version: '19.227-15', offered: false },
  { version: '19.253-26', offered: false },
  { version: '19.288-10', offered: false },
  { version: '19.319-4', offered: false },
  { version: '19.361-18' },
  { version: '19.403-1' },
  { version: '19.418-8' },
  { version: '19.441-2' },
  { version: '19.456-3' },
  { version: '19.484-2' },
  { version: '19.506-1' },
  { version: '19.525-63' },
  { version: '19.533-5' },
  { version: '19.536-4' },
];
