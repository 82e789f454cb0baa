/**
 * Makes the handler of a failed import of an optional package. `what` begins the message, such as `Tokens need`.
 * @throws Error with the command that installs the package, and the failure as its cause.
 */
export function missingPackage(what: string, name: string): (cause: unknown) => never {
  return (cause) => {
    throw new Error(`${what} a package: npm install ${name}`, { cause });
  };
}
