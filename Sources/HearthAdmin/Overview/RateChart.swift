import HearthAPI

/// A bar chart of the commits per second in the last ten minutes.
struct RateChart: ViewModel {
    /// The bars as the data of one SVG path, 60 wide and 20 high, the latest last.
    private let path: String
    private let summary: String

    /// Creates the chart; returns `nil` before the first interval is complete.
    init?(_ rates: CommitRates.Rates) {
        guard let peak = rates.perInterval.max() else { return nil }
        path = Self.path(of: rates.perInterval, peak: peak)
        summary = localized(
            "Commits per second: {recent} in the last minute, peak {peak} in the last ten minutes",
            ["recent": Self.text(of: rates.recent), "peak": Self.text(of: peak)]
        )
    }

    private static func path(of rates: [Double], peak: Double) -> String {
        let first = 60 - rates.count
        return rates.enumerated().filter { $0.element > 0 }.map { index, rate in
            let height = max(1, Int((20 * rate / peak).rounded()))
            return "M\(first + index).5 20v-\(height)"
        }
        .joined()
    }

    private static func text(of rate: Double) -> String {
        rate >= 10 || rate == rate.rounded()
            ? NumberFormat.grouped(Int(rate.rounded())) : ((rate * 10).rounded() / 10).description
    }
}
