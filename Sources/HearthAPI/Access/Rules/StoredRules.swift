import Cryptography
import DocumentModel
package import UTF8Text

/// The contents of a database's own rules file, whether or not the rules can be used.
package struct StoredRules: Sendable {
    /// The text; `nil` if there is no file, or if it is not valid UTF-8.
    package let text: String?
    /// The version, as ``ActiveRules/version``; `nil` if there is no file.
    package let version: UTF8Key?

    init(contents: [UInt8]?) {
        text = contents.flatMap { String(validating: $0, as: UTF8.self) }
        version = contents.map { UTF8Key(Hexadecimal.encode(SHA256.digest(of: $0).prefix(8))) }
    }
}

/// The state of a database's own rules file that a change requires.
package enum RulesPrecondition: Sendable {
    /// Any state.
    case none
    /// The file has this version; `nil` for no file.
    case version(UTF8Key?)

    /// Requires that the contents of the file meet the condition.
    ///
    /// - Throws: ``StatusCode/aborted``.
    func check(_ contents: [UInt8]?) throws(StatusError) {
        guard case .version(let expected) = self else { return }
        let stored = StoredRules(contents: contents).version
        guard stored != expected else { return }
        let found = stored.map { "version \($0)" } ?? "none"
        throw StatusError(.aborted, "The rules have changed since they were read: the database now has \(found).")
    }
}
