import Crypto
import DocumentModel
import StrictJSON

/// What a document was when it was given to be edited, by which it is known whether somebody else has changed it meanwhile.
///
/// The time alone would not do: who edits the file of a document leaves that as it is.
struct EditBase: Hashable, Sendable {
    /// When it was changed last; nil when there was no document.
    let updateTime: Timestamp?
    /// The beginning of the hash of its fields.
    private let digest: UTF8Key

    init(_ document: EncodedDocument?) {
        updateTime = document?.updateTime
        digest = document.map { UTF8Key(Hexadecimal.encode(SHA256.hash(data: $0.fieldsJSON).prefix(8))) } ?? ""
    }

    /// Reads what a form has sent; nil when it isn't one.
    init?(_ text: UTF8Key?) {
        guard let text else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."))
        if parts.isEmpty {
            (updateTime, digest) = (nil, "")
            return
        }
        guard parts.count == 2, let time = Int64(Substring(parts[0])).flatMap({ try? Timestamp(microseconds: $0) }) else {
            return nil
        }
        (updateTime, digest) = (time, UTF8Key(Substring(parts[1])))
    }

    /// What a form keeps of it.
    var text: String {
        updateTime.map { "\($0.microseconds).\(digest)" } ?? ""
    }

    /// What must be so for a write on this base.
    var precondition: Precondition {
        updateTime.map(Precondition.updateTime) ?? .exists(false)
    }
}
