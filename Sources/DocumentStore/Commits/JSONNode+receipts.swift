package import DocumentModel
package import StrictJSON
package import UTF8Text

extension JSONNode {
    /// The member with a name as an integer; `nil` if there is none.
    package subscript(integer key: UTF8Key) -> Int64? {
        guard case .integer(let value) = self[key]?.number else { return nil }
        return value
    }

    /// The member with a name as a time; `nil` if there is none.
    package subscript(time key: UTF8Key) -> Timestamp? {
        self[key]?.string.flatMap { try? Timestamp(rfc3339: $0) }
    }
}
