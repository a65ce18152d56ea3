export function FindId() {
  return null;
}

export function RequestReset() {
  return null;
}

export function ResetPassword() {
  return null;
}
