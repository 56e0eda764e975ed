import Cryptography
import DocumentModel
import UTF8Text

/// The revision of a document that an editor was opened with. It detects concurrent changes.
///
/// It includes a digest of the fields, because editing the file by hand does not change the update time.
struct DocumentRevision: Hashable, Sendable {
    /// The update time; `nil` for a document that did not exist.
    let updateTime: Timestamp?
    /// The first 64 bits of the SHA-256 hash of the fields.
    private let digest: UTF8Key

    init(_ document: EncodedDocument?) {
        updateTime = document?.updateTime
        digest = document.map { UTF8Key(Hexadecimal.encode(SHA256.digest(of: $0.fieldsJSON).prefix(8))) } ?? ""
    }

    /// Parses the value of a form field; `nil` if it is malformed.
    init?(_ formValue: UTF8Key?) {
        guard let formValue else { return nil }
        let parts = formValue.utf8.split(separator: UInt8(ascii: "."))
        if parts.isEmpty {
            (updateTime, digest) = (nil, "")
            return
        }
        guard parts.count == 2, let time = Int64(Substring(parts[0])).flatMap({ try? Timestamp(microseconds: $0) }) else {
            return nil
        }
        (updateTime, digest) = (time, UTF8Key(Substring(parts[1])))
    }

    var formValue: String {
        updateTime.map { "\($0.microseconds).\(digest)" } ?? ""
    }

    /// The precondition of a write that replaces this revision.
    var precondition: Precondition {
        updateTime.map(Precondition.updateTime) ?? .exists(false)
    }
}
