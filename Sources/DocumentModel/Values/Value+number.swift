extension Value {
    /// Whether it is an integer or a double, NaN included.
    var isNumber: Bool {
        switch self {
        case .integer, .double: true
        default: false
        }
    }

    /// Whether it is the double that is no number.
    var isNaN: Bool {
        if case .double(let value) = self { value.isNaN } else { false }
    }
}
