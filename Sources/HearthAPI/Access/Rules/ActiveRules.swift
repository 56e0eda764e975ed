import Cryptography
package import DocumentModel
package import SecurityRules
package import UTF8Text

/// Security rules that decide requests: compiled, with their text.
package struct ActiveRules: Sendable {
    /// The compiled rules.
    package let ruleset: Ruleset
    /// The text of the rules.
    package let text: String
    /// The version: the beginning of the SHA-256 of the text, in hexadecimal.
    package let version: UTF8Key
    /// The place that the rules are from.
    package let source: Source
    /// The time from which they decide.
    package let activationTime: Timestamp

    /// The place that rules are from.
    package enum Source: String, CaseIterable, Sendable {
        /// The database's own file.
        case database
        /// The file for all databases without rules of their own.
        case server
        /// A test program, through the emulator's route. Not stored.
        case emulator
    }

    /// Compiles rules.
    ///
    /// - Throws: ``RulesError`` with all errors.
    init(_ text: String, from source: Source, at time: Timestamp) throws(RulesError) {
        ruleset = try Ruleset(text)
        self.text = text
        self.source = source
        activationTime = time
        version = Self.version(of: text)
    }

    /// Returns the version of a text.
    static func version(of text: String) -> UTF8Key {
        UTF8Key(Hexadecimal.encode(SHA256.digest(of: Array(text.utf8)).prefix(8)))
    }

    /// Returns the text of a rules file.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for bytes that are not UTF-8, or too many.
    static func text(of bytes: [UInt8]) throws(StatusError) -> String {
        guard bytes.count <= RulesLimits.sourceBytes else {
            throw StatusError(
                .invalidArgument,
                "The rules have \(bytes.count) bytes; the maximum is \(RulesLimits.sourceBytes)."
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StatusError(.invalidArgument, "The rules are not valid UTF-8.")
        }
        return text
    }
}

extension StatusError {
    /// The error for rules that do not compile.
    init(_ error: RulesError) {
        self.init(.invalidArgument, "The rules do not compile: \(error)", cause: error)
    }
}
