import TestSupport

extension PowerCut {
    /// The seed of this run.
    static let seed = SeededGenerator.currentSeed
}
