/** Uses storage, which throws where the user has blocked it, and when it is full. @returns undefined then */
export function ifAllowed<Result>(use: () => Result): Result | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
