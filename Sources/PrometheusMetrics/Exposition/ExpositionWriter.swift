/// Writes families as text.
package struct ExpositionWriter {
    private let format: ExpositionFormat
    private var bytes: [UInt8] = []

    init(_ format: ExpositionFormat) {
        self.format = format
        bytes.reserveCapacity(64 << 10)
    }

    /// Writes the description of a family and all of its lines.
    mutating func write(_ family: some MetricFamily) {
        let descriptor = family.descriptor
        var name = descriptor.name
        // OpenMetrics declares a counter without the suffix that its samples have.
        if format == .openMetrics, descriptor.kind == .counter, name.hasSuffix("_total") { name.removeLast("_total".count) }
        append("# HELP \(name) \(Self.escapedHelp(descriptor.help, format))\n# TYPE \(name) \(descriptor.kind.rawValue)\n")
        family.writeSeries(to: &self)
    }

    /// Writes the line of a sample.
    mutating func sample(_ name: String, _ labels: SeriesLabels, _ value: Double) {
        append(name)
        append(labels.text)
        append(" ")
        append(Self.number(value))
        append("\n")
    }

    consuming func finish() -> [UInt8] {
        if format == .openMetrics { append("# EOF\n") }
        return bytes
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}

extension ExpositionWriter {
    /// Returns a number as text: whole numbers without a fraction, others with as few digits as identify them.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    /// Returns the value of a label with its escapes.
    static func escapedLabel(_ value: String) -> String {
        escaped(value, quotes: true)
    }

    private static func escapedHelp(_ help: String, _ format: ExpositionFormat) -> String {
        escaped(help, quotes: format == .openMetrics)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": scalars.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": scalars.append(contentsOf: "\\n".unicodeScalars)
            case "\"" where quotes: scalars.append(contentsOf: "\\\"".unicodeScalars)
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }
}
