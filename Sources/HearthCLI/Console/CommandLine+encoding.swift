import ArgumentParser
import UTF8Text

extension CommandLine {
    /// Throws a validation error if an argument is not valid UTF-8.
    ///
    /// Swift would replace invalid bytes with U+FFFD, so that a path could denote another document.
    static func validateEncoding(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = unsafeArgv) throws {
        for number in 1... {
            guard let argument = arguments[number] else { return }
            guard String(validatingCString: argument) == nil else { continue }
            throw ValidationError("Argument \(number), \(Excerpt(String(cString: argument))), is not valid UTF-8.")
        }
    }
}
