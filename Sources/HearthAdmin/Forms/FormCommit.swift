import Cryptography
import DocumentModel
import StrictJSON
import UTF8Text

/// The key of what a form writes: a form that is sent twice, for example by a double click or since the first answer was lost, writes once and
/// is answered as the first time.
///
/// It is the token of the form, which has random digits of its own for each page. A form that is changed and sent again is another one.
struct FormCommit {
    /// The key for the commit of the form's write.
    let key: [UInt8]

    init(_ form: Form) {
        key = Array((form[CSRFToken.field]?.string ?? "").utf8)
    }

    /// Returns the ID for a new document of a form that gives none.
    func documentID(for fields: MapValue, in collection: CollectionPath) -> DocumentPath.ID {
        var writer = JSONWriter()
        writer.beginArray()
        writer.string(collection.string)
        Value.map(fields).write(to: &writer)
        writer.endArray()
        return .automatic(from: Array(SHA256.digest(of: key + writer.finish())))
    }
}
