export function LoginCallback() {
  return null;
}
