// Builds of a real service, oldest first (field-facts.md, A realistic fleet). Some collectors still run the oldest.
const noLongerOffered = ['19.137-15', '19.182-43', '19.227-15', '19.253-26', '19.288-10', '19.319-4'];
const offered = [
  ...['19.361-18', '19.403-1', '19.418-8', '19.441-2', '19.456-3', '19.484-2'],
  ...['19.506-1', '19.525-63', '19.533-5', '19.536-4'],
];

export const defaultBuilds = [...noLongerOffered.map((version) => ({ version, offered: false })), ...offered];
