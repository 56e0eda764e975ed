package import DocumentModel
package import StrictJSON
package import UTF8Text

/// A format of small files and records: a JSON object with a list of objects, each on a line of its own, so that versions can be compared
/// by lines.
///
/// ```json
/// {"format":1,"sessions":[
/// {"id":"…"},
/// {"id":"…"}
/// ]}
/// ```
package struct ListRecord: Sendable {
    /// The version of the format.
    package let format: Int64
    /// The name of the member with the list.
    package let list: UTF8Key
    /// The contents in words, for messages: "browser sessions".
    package let subject: String

    package init(format: Int64, list: UTF8Key, subject: String) {
        (self.format, self.list, self.subject) = (format, list, subject)
    }

    /// Returns the bytes of a record with the given objects.
    package func encoded(_ objects: [[UInt8]]) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        return Array(#"{"format":\#(format),"\#(list)":["#.utf8) + [newline]
            + objects.joined(separator: [UInt8(ascii: ","), newline])
            + (objects.isEmpty ? [] : [newline]) + Array("]}".utf8) + [newline]
    }

    /// Parses a record, and returns its objects.
    ///
    /// - Throws: ``damaged`` if it is malformed; ``StatusCode/failedPrecondition`` if a newer version of Hearth wrote it.
    package func objects(in bytes: [UInt8]) throws(StatusError) -> [JSONNode] {
        guard let root = try? JSONText(bytes).root, case .integer(let stored)? = root["format"]?.number else { throw damaged }
        guard stored <= format else {
            throw StatusError(
                .failedPrecondition,
                "The record of the \(subject) has format \(stored), but this version of Hearth reads formats up to \(format). "
                    + "Use a newer version of Hearth."
            )
        }
        guard stored == format, let elements = root[list]?.elements else { throw damaged }
        return Array(elements)
    }

    /// The error for a malformed record: ``StatusCode/dataLoss``.
    package var damaged: StatusError { StatusError(.dataLoss, "The record of the \(subject) cannot be read.") }
}
