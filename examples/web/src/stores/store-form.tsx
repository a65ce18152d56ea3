export function StoreForm() {
  return null;
}
