/// Numbers of things, as pages write them.
enum Counting {
    /// A whole number with a comma between thousands: `1,048,576`.
    static func grouped(_ number: some BinaryInteger) -> String {
        let digits = Array(String(number.magnitude).utf8)
        var text: [UInt8] = number < 0 ? [UInt8(ascii: "-")] : []
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(UInt8(ascii: ",")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A number of things by name: `1 field`, `1,204 fields`.
    static func phrase(_ number: some BinaryInteger, _ singular: String, _ plural: String) -> String {
        "\(grouped(number)) \(number == 1 ? singular : plural)"
    }
}
