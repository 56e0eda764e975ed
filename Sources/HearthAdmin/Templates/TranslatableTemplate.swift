/// A template whose texts for people stand in double square brackets: `<h2>[[Collections]]</h2>`.
///
/// A text may hold variables of the template: `[[No document has the ID {{id}}]]`.
struct TranslatableTemplate {
    private let source: String

    init(_ source: String) {
        self.source = source
    }

    /// The template with each text replaced by what a function makes of it.
    func translated(_ translate: (String) -> String) -> String {
        var result: [UInt8] = []
        var rest = source.utf8[...]
        while let start = rest.firstRange(of: Self.opening), let end = rest[start.upperBound...].firstRange(of: Self.closing) {
            result += rest[..<start.lowerBound]
            result += translate(String(decoding: rest[start.upperBound..<end.lowerBound], as: UTF8.self)).utf8
            rest = rest[end.upperBound...]
        }
        return String(decoding: result + rest, as: UTF8.self)
    }

    private static let opening = Array("[[".utf8)
    private static let closing = Array("]]".utf8)
}
