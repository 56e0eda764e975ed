import ArgumentParser
import DocumentModel

extension CommandLine {
    /// Refuses arguments that are no UTF-8: Swift would put other characters in the place of their bytes, so that a path could
    /// name another document.
    static func checkEncoding(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = unsafeArgv) throws {
        for number in 1... {
            guard let argument = arguments[number] else { return }
            guard String(validatingCString: argument) == nil else { continue }
            throw ValidationError("Argument \(number), \(Excerpt(String(cString: argument))), is not UTF-8 text.")
        }
    }
}
