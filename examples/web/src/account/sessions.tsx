export function Sessions() {
  return null;
}
