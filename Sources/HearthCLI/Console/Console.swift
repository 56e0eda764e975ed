import DocumentModel
import Foundation

/// Standard error: what a person is told beside the result.
enum Console {
    /// Says one thing, with the program's name before it.
    ///
    /// It stays on its line and can't move the cursor, whatever a server or file has put into it.
    static func report(_ text: String) {
        let visible = text.unicodeScalars.map { $0.isInvisible ? $0.escaped(asASCII: true) : String($0) }.joined()
        write("hearth: \(visible)\n")
    }

    /// Says what went wrong and where.
    static func report(_ error: StatusError) {
        report("\(error)")
    }

    /// Whether somebody watches standard error.
    static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Writes text as it is.
    static func write(_ text: String) {
        // Where nobody listens there is nobody to tell.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
