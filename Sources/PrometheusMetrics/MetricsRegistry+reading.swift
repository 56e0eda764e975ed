// Reads families by their names, for what shows them in the server itself.
extension MetricsRegistry {
    /// Returns the counters of a family whose label values satisfy a condition; none if no such family is declared.
    ///
    /// - Parameter isIncluded: Receives the label values in the order of the labels.
    package func counters(named name: String, where isIncluded: ([String]) -> Bool = { _ in true }) -> [Counter] {
        (family(named: name) as? CounterFamily)?.counters(where: isIncluded) ?? []
    }

    /// Returns the histograms of a family; none if no such family is declared.
    package func histograms(named name: String) -> [Histogram] {
        (family(named: name) as? HistogramFamily)?.all ?? []
    }

    /// Returns the value of a gauge without labels; `nil` if it is unknown, or no such gauge is declared.
    package func value(named name: String) -> Double? {
        switch family(named: name) {
        case let gauge as Gauge: gauge.value.isNaN ? nil : gauge.value
        case let family as SampledFamily: family.singleValue
        default: nil
        }
    }
}
