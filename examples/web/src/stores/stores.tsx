export function Stores() {
  return null;
}

export function StorePage() {
  return null;
}
