/** A drawing */
export function drawingOf(_name: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 480" width="480" height="480"><rect width="480" height="480" fill="#cde"/></svg>`;
}
