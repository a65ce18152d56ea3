export function Requests() {
  return null;
}

export function Partners() {
  return null;
}
