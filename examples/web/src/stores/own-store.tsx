export function OwnStore() {
  return null;
}
