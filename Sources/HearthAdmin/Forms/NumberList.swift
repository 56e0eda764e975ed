import StrictJSON

/// Parses lists of numbers in form fields.
enum NumberList {
    /// Parses comma-separated numbers; returns `nil` if an element is not a number.
    static func numbers(in text: String) -> [Double]? {
        let parts = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part -> Double? in
            switch try? JSONText(String(Substring(part))).root.number {
            case .integer(let integer)?: Double(integer)
            case .double(let double)?: double
            default: nil
            }
        }
        return numbers.count == parts.count ? numbers : nil
    }
}
