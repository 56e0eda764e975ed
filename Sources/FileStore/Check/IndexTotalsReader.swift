internal import DocumentIndex

/// A read of the index's tables as a whole, on two threads, while the documents are read.
final class IndexTotalsReader: Sendable {
    private let totals: BackgroundRead<IndexCheck.Totals>
    private let pageDamage: BackgroundRead<String?>

    /// Starts reading.
    init(_ index: IndexCheck) {
        totals = BackgroundRead(label: "hearth.check.index.entries") { index.readTotals() }
        pageDamage = BackgroundRead(label: "hearth.check.index.pages") { index.pageDamage() }
    }

    /// Waits for the totals, and calls `onWaiting` every second.
    func wait(onWaiting: () -> Void) -> IndexCheck.Totals {
        var totals = totals.wait(onWaiting: onWaiting)
        totals.damage = pageDamage.wait(onWaiting: onWaiting) ?? totals.damage
        return totals
    }
}
