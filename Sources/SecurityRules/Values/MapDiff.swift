internal import UTF8Text

/// The difference between two maps, of which one is an earlier version of the other.
package struct MapDiff: Hashable, Sendable {
    let after: RuleMap
    let before: RuleMap

    /// Returns the keys for which a test of the earlier and the later value is true.
    func keys(where test: (_ before: RuleValue?, _ after: RuleValue?) -> Bool) -> RuleSet {
        let added = after.keys.filter { test(before[$0], after[$0]) }
        let removed = before.keys.filter { after[$0] == nil && test(before[$0], nil) }
        return RuleSet((added + removed).map(RuleValue.string))
    }
}
