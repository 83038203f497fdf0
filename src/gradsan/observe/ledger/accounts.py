"""Everything that the ledger keeps."""

from dataclasses import dataclass, field

from gradsan.observe.ledger.constant_terms import ConstantTerms
from gradsan.observe.ledger.gradients import Gradients
from gradsan.observe.ledger.hoards import Hoards
from gradsan.observe.ledger.holdings import Holdings
from gradsan.observe.ledger.passlines import PassLines
from gradsan.observe.ledger.staleness import Staleness
from gradsan.observe.ledger.unreached import Unreached
from gradsan.observe.ledger.unused_losses import Siblings


@dataclass(frozen=True, slots=True)
class Accounts:
    """One for each kind of thing that happens over many steps."""

    lines: PassLines  # that ask for passes
    gradients: Gradients  # from step to step
    holdings: Holdings  # of graphs
    hoards: Hoards  # of graphs, within one call
    siblings: Siblings  # losses beside one another
    unreached: Unreached  # parameters
    staleness: Staleness  # of what passes walk
    terms: ConstantTerms = field(default_factory=ConstantTerms)  # of losses
