/// The name, the meaning and the type of a family of series.
package struct MetricDescriptor: Sendable {
    /// The types of Prometheus.
    package enum Kind: String, Sendable {
        case counter, gauge, histogram, summary
    }

    /// The name, with a prefix, and with the base unit and `_total` as a suffix where they apply.
    package let name: String
    package let help: String
    package let kind: Kind

    package init(_ name: String, _ help: String, _ kind: Kind) {
        self.name = name
        self.help = help
        self.kind = kind
    }
}

/// A family: the series of one name.
package protocol MetricFamily: Sendable {
    var descriptor: MetricDescriptor { get }
    /// Returns whether the family continues to be used when another one is declared under its name.
    func isContinued(by other: Self) -> Bool
    /// Writes the lines of all series.
    func writeSeries(to writer: inout ExpositionWriter)
}

extension MetricFamily {
    package func isContinued(by _: Self) -> Bool { false }
}
