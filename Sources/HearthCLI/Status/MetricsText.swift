/// The series of a response of `/metrics`, by name with labels as they are in the text.
struct MetricsText {
    private let values: [Substring: Double]
    /// The gauges without labels, in their order.
    let gauges: [(name: String, value: Double)]

    /// Parses Prometheus' text format. Lines that are not series are left out.
    init(_ bytes: [UInt8]) {
        var values: [Substring: Double] = [:]
        let text = String(decoding: bytes, as: UTF8.self)
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else { continue }
            values[line[..<space]] = value
        }
        self.values = values
        let types = text.matches(of: /(?m)^# TYPE (\S+) gauge$/)
        gauges = types.compactMap { match in values[match.1].map { (String(match.1), $0) } }
    }

    /// The value of a series; `nil` if it is not exported.
    subscript(_ series: String) -> Double? { values[series[...]] }
}
