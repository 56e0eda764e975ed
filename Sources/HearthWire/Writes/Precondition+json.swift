package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of a precondition: `{"exists"}` or `{"updateTime"}`.
package enum PreconditionKeys {
    package static let exists: UTF8Key = "exists"
    package static let updateTime: UTF8Key = "updateTime"
}

extension Precondition {
    /// Writes the precondition; an empty object for none.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .none: break
        case .exists(let exists): writer.member(PreconditionKeys.exists, exists)
        case .updateTime(let time): writer.member(PreconditionKeys.updateTime, time.rfc3339)
        }
        writer.endObject()
    }
}
