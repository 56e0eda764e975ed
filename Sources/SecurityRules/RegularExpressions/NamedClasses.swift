/// The classes `\d`, `\s` and `\w`: of ASCII alone, as in RE2.
enum PerlClass {
    /// Returns the ranges of the class with a lowercase letter, or `nil` if there is none.
    static func ranges(_ letter: Unicode.Scalar) -> [ClosedRange<UInt32>]? {
        switch letter {
        case "d": digits
        case "s": blanks
        case "w": words
        default: nil
        }
    }

    private static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
    private static let blanks: [ClosedRange<UInt32>] = [0x09...0x0a, 0x0c...0x0d, 0x20...0x20]
    private static let words: [ClosedRange<UInt32>] = [0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a]
}

/// The classes `[:alpha:]` and their like, of ASCII alone.
enum POSIXClass {
    /// Returns the ranges of the class with a name, or `nil` if there is none.
    static func ranges(_ name: String) -> [ClosedRange<UInt32>]? {
        switch name {
        case "alnum": [0x30...0x39, 0x41...0x5a, 0x61...0x7a]
        case "alpha": [0x41...0x5a, 0x61...0x7a]
        case "ascii": [0x00...0x7f]
        case "blank": [0x09...0x09, 0x20...0x20]
        case "cntrl": [0x00...0x1f, 0x7f...0x7f]
        case "digit": [0x30...0x39]
        case "graph": [0x21...0x7e]
        case "lower": [0x61...0x7a]
        case "print": [0x20...0x7e]
        case "punct": [0x21...0x2f, 0x3a...0x40, 0x5b...0x60, 0x7b...0x7e]
        case "space": [0x09...0x0d, 0x20...0x20]
        case "upper": [0x41...0x5a]
        case "word": [0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a]
        case "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66]
        default: nil
        }
    }
}
