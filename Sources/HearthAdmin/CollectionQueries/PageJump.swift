import DocumentModel
import UTF8Text

/// A request to go to a certain page of a collection: `?position=151`, `?id=hitchhiker` or `?page=last`.
enum PageJump: Sendable {
    /// The page that begins with the document at a position, counted from 1.
    case position(Int)
    /// The page that begins with the document that has an ID, or the next one in ID order.
    case id(DocumentPath.ID)
    /// The last page.
    case last
    /// Input that is neither a position nor an ID, with the reason.
    case invalid(String)

    /// Reads the items of a URL; returns `nil` if there are none. A position takes precedence over an ID.
    init?(_ query: URLQuery) {
        let texts = ["position", "id"].map { name in FormTextCoding.trimmed(query[name]?.string ?? "") }
        if !texts[0].utf8.isEmpty {
            self =
                Self.number(texts[0]).map { .position($0) }
                ?? .invalid(localized("Enter a position as a number, such as {example}.", ["example": NumberFormat.grouped(151)]))
        } else if !texts[1].utf8.isEmpty {
            do throws(StatusError) {
                self = .id(try DocumentPath.ID(texts[1]))
            } catch {
                self = .invalid(error.message)
            }
        } else if query["page"] == "last" {
            self = .last
        } else {
            return nil
        }
    }

    /// Parses a positive number with the digits and grouping separators of any language of the pages.
    static func number(_ text: String) -> Int? {
        var number = 0
        for scalar in text.unicodeScalars {
            if separators.contains(scalar) { continue }
            guard scalar.properties.numericType == .decimal, let digit = scalar.properties.numericValue else { return nil }
            let (product, overflows) = number.multipliedReportingOverflow(by: 10)
            guard !overflows, product < Int.max - 9 else { return nil }
            number = product + Int(digit)
        }
        return number > 0 ? number : nil
    }

    private static let separators: Set<Unicode.Scalar> = [",", ".", " ", "\u{a0}", "\u{202f}", "\u{66c}", "'"]
}
