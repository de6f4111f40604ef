" Written by editors/generate.py from the grammar and the vocabulary.
if exists("b:current_syntax")
  finish
endif
syntax iskeyword @,48-57,_,192-255
syntax keyword sdcTop attacker data dimension fix override param period policy protect publish require scenario sdc seed sensitive suppress table use waive
syntax keyword sdcStatement as assess attribute bounds by coalition codes column conditional contributions cost counts down each fixed from given group hierarchy integer knows labels largest like lpl measure method only prefix previous recode release scales scenarios spl status sum to together total tree unit units up upl values
syntax keyword sdcExpression against and at because else if in inf level not of or otherwise then under until where
syntax keyword sdcQuantity contribution count needed value weight
syntax keyword sdcFunction abs ceil exp floor log max min round sqrt adjustment cell_key cellkey combined csp cta ecta enhanced_adjustment intervals ip perturb perturbation rounding suppression attribute_disclosure contributors dominance freq group_disclosure k_disclosure nk p p_percent pq request threshold zero
syntax match sdcNumber /\<[0-9]\+\(\.[0-9]\+\)\?\([eE][+-]\?[0-9]\+\)\?%\?/
syntax match sdcNumber /\<[0-9]\+\(\.[0-9]\+\)\?[ \t]\?\(ms\|s\|min\|h\)\>/
syntax match sdcNumber /\<[0-9]\{4}-[0-9]\{2}-[0-9]\{2}\>/
syntax match sdcComment /#.*$/ contains=@Spell
syntax region sdcString start=/"/ skip=/""/ end=/"/ oneline
highlight default link sdcTop Keyword
highlight default link sdcStatement Statement
highlight default link sdcExpression Operator
highlight default link sdcQuantity Identifier
highlight default link sdcFunction Function
highlight default link sdcNumber Number
highlight default link sdcComment Comment
highlight default link sdcString String
let b:current_syntax = "sdc"
